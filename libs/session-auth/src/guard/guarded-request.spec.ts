import { describe, expect, it } from '@jest/globals';
import type { UserRecord } from '../contract/user-record.js';
import { attachNobody, attachUser, findChecked, keepChecked, tokenOf, userOf } from './guarded-request.js';

const ann: UserRecord = { username: 'ann' };
const accepted = { kind: 'accepted', user: ann } as const;
const identity = { token: 'token', authIv: 'iv' };
const verifier = {};

describe('what a guard found for a request', () => {
  it.each([
    ['the same session of the same module', verifier, { ...identity }, true],
    ['another module', {}, identity, false],
    ['another token', verifier, { token: 'other', authIv: 'iv' }, false],
    ['another IV', verifier, { token: 'token', authIv: undefined }, false],
  ])('counts for the next guard with %s: see the last column', (_name, asking, session, counts) => {
    const request = {};
    const checked = { verifier, identity, verdict: accepted, admitted: false };
    keepChecked(request, checked);
    expect(findChecked(request, asking, session)).toBe(counts ? checked : undefined);
  });

  it('gives the token to the handler only once it let the request in', () => {
    const request = {};
    keepChecked(request, { verifier, identity, verdict: accepted, admitted: false });
    expect(tokenOf(request)).toBeUndefined();
    attachUser(request, accepted);
    expect([tokenOf(request), userOf(request)]).toEqual(['token', ann]);
  });
});

describe('a request that one guard marked as stale', () => {
  const afterStale = (): { sessionIsStale?: true | undefined } => {
    const request = {};
    attachUser(request, { ...accepted, stale: true });
    return request;
  };

  it('says so', () => {
    expect(afterStale()).toMatchObject({ user: ann, sessionIsStale: true });
  });

  it.each([
    ['confirms its session', (request: object) => attachUser(request, accepted)],
    ['lets it in as nobody', (request: object) => attachNobody(request)],
  ])('is not stale any more once another guard %s', (_name, guard) => {
    const request = afterStale();
    guard(request);
    expect(request.sessionIsStale).toBeUndefined();
  });

  it('is the exception: others have no such mark at all', () => {
    const [user, nobody] = [{}, {}];
    attachUser(user, accepted);
    attachNobody(nobody);
    expect([user, nobody]).toStrictEqual([{ user: ann }, { user: undefined }]);
  });
});
