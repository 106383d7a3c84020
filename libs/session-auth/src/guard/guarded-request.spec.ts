import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { admissionOf } from '../../../../test/support/session-parts.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { attach, type GuardedRequest, isAdmitted, ADMISSION } from './guarded-request.js';

const ann: UserRecord = { username: 'ann' };
const session = { token: 'token', authIv: 'iv' };
const admission = admissionOf({ user: ann, session });
const { verifier, context } = admission;
const anonymous = { ...admission, user: undefined, session: undefined };

describe('a request', () => {
  it.each([
    ['this call by this registration', true, verifier, context],
    ['another call of the same request', false, verifier, {} as ExecutionContext],
    ['this call by another registration', false, { revoker: { count: 0 } }, context],
  ])('is admitted to %s: %s', (_case, expected, guardVerifier, call) => {
    for (let time = 0; time < 20; time += 1) {
      const request: GuardedRequest = {};
      attach(request, admission);
      expect(isAdmitted(request, guardVerifier, call)).toBe(expected);
    }
  });

  it('is no longer admitted once a session was revoked', () => {
    const ending = { revoker: { count: 0 } };
    for (let revocations = 0; revocations < 20; revocations += 1) {
      const request: GuardedRequest = {};
      attach(request, { ...admission, verifier: ending, revocations });
      expect(isAdmitted(request, ending, context)).toBe(true);
      ending.revoker.count += 1;
      expect(isAdmitted(request, ending, context)).toBe(false);
    }
  });

  it('is no longer admitted once an application has replaced its user', () => {
    const request: { user?: UserRecord } = {};
    attach(request, admission);
    request.user = { username: 'impostor' };
    expect(isAdmitted(request, verifier, context)).toBe(false);
  });

  it('keeps the user that a subclass of the guard has set, also if a session was revoked since', () => {
    const request: { user?: unknown } & Omit<GuardedRequest, 'user'> = {};
    const ending = { revoker: { count: 0 } };
    attach(request, { ...admission, verifier: ending, isBySubclass: true });
    const own = (request.user = { id: 7 });
    expect(isAdmitted(request, ending, context)).toBe(true);
    ending.revoker.count += 1;
    expect(isAdmitted(request, ending, context)).toBe(false);
    for (const revocations of [1, 2]) {
      attach(request, { ...admission, verifier: ending, revocations });
      expect([request.user, isAdmitted(request, ending, context)]).toEqual([own, true]);
      ending.revoker.count += 1;
    }
    attach(request, { ...admission, verifier: ending, context: {} as ExecutionContext });
    expect(request.user).toBe(ann);
  });

  it('loses the user that a subclass of the guard has set once a rule admits it without a session', () => {
    const request: { user?: unknown } & Omit<GuardedRequest, 'user'> = {};
    attach(request, { ...admission, isBySubclass: true });
    request.user = { id: 7 };
    attach(request, anonymous);
    expect([request.user, request[ADMISSION]?.session]).toEqual([undefined, undefined]);
  });

  it('stays admitted without a session, whatever sessions were revoked', () => {
    const ending = { revoker: { count: 0 } };
    const request: GuardedRequest = {};
    attach(request, { ...admission, verifier: ending, session: undefined });
    ending.revoker.count += 1;
    expect(isAdmitted(request, ending, context)).toBe(true);
  });
});

describe('a request that one guard marked as stale', () => {
  const afterStale = (): { sessionIsStale?: true | undefined } => {
    const request: GuardedRequest = {};
    attach(request, admission, true);
    return request;
  };

  it.each([
    ['confirms its session', (request: object) => attach(request, admission)],
    ['admits it without a session', (request: object) => attach(request, anonymous)],
  ])('is no longer stale once another guard %s', (_name, guard) => {
    const request = afterStale();
    expect(request).toMatchObject({ user: ann, sessionIsStale: true });
    guard(request);
    expect(request.sessionIsStale).toBeUndefined();
  });

  it('has a property that other requests do not have', () => {
    const request = {};
    attach(request, admission);
    expect(Object.keys(request)).toEqual(['user']);
  });
});
