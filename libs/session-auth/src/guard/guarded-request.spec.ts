import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import type { UserRecord } from '../contract/record/user-record.js';
import { detachUser, attachUser, isAdmitted, tokenOf, userOf } from './guarded-request.js';

const ann: UserRecord = { username: 'ann' };
const accepted = { kind: 'authenticated', user: ann } as const;
const verifier = { revoker: { count: 0 } };
const context = {} as ExecutionContext;
const admission = { verifier, revocations: 0, context, token: 'token', user: ann };
const anonymous = { ...admission, user: undefined, token: undefined };

describe('a request', () => {
  it('has the user and the token of the session that admitted it', () => {
    const request = {};
    expect(tokenOf(request)).toBeUndefined();
    attachUser(request, accepted, admission);
    expect([tokenOf(request), userOf(request)]).toEqual(['token', ann]);
  });

  it('has neither once a rule admits it without a session', () => {
    const request = {};
    attachUser(request, accepted, admission);
    detachUser(request, anonymous);
    expect([tokenOf(request), userOf(request)]).toEqual([undefined, undefined]);
  });

  it.each([
    ['this call by this registration', verifier, context, true],
    ['another call of the same request', verifier, {} as ExecutionContext, false],
    ['this call by another registration', { revoker: { count: 0 } }, context, false],
  ])('is admitted to %s: see the last column', (_case, asking, call, expected) => {
    const request = {};
    attachUser(request, accepted, admission);
    expect(isAdmitted(request, asking, call)).toBe(expected);
  });

  it('is not admitted any more once an application has replaced its user', () => {
    const request: { user?: UserRecord } = {};
    attachUser(request, accepted, admission);
    request.user = { username: 'impostor' };
    expect(isAdmitted(request, verifier, context)).toBe(false);
  });

  it('is admitted to nothing before a guard has admitted it', () => {
    expect(isAdmitted({}, verifier, context)).toBe(false);
  });
});

describe('a request that one guard marked as stale', () => {
  const afterStale = (): { sessionIsStale?: true | undefined } => {
    const request = {};
    attachUser(request, { ...accepted, stale: true }, admission);
    return request;
  };

  it('says so', () => {
    expect(afterStale()).toMatchObject({ user: ann, sessionIsStale: true });
  });

  it.each([
    ['confirms its session', (request: object) => attachUser(request, accepted, admission)],
    ['admits it without a session', (request: object) => detachUser(request, anonymous)],
  ])('is not stale any more once another guard %s', (_name, guard) => {
    const request = afterStale();
    guard(request);
    expect(request.sessionIsStale).toBeUndefined();
  });

  it('is the exception: others have no such mark at all', () => {
    const [user, nobody] = [{}, {}];
    attachUser(user, accepted, admission);
    detachUser(nobody, anonymous);
    expect([user, nobody].map((request) => Object.keys(request))).toEqual([['user'], ['user']]);
  });
});
