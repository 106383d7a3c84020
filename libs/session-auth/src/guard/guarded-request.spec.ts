import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import type { UserRecord } from '../contract/record/user-record.js';
import {
  attach,
  type Admission,
  attachedTo,
  type GuardedRequest,
  haveOneAdmission,
  isAdmitted,
  ADMISSION,
} from './guarded-request.js';

const ann: UserRecord = { username: 'ann' };
const verifier = { revoker: { count: 0 } };
const context = {} as ExecutionContext;
const admission = {
  verifier,
  authority: 'default',
  revocations: 0,
  context,
  session: { token: 'token', authIv: 'iv' },
  user: ann,
};
const anonymous = { ...admission, user: undefined, session: undefined };

describe('a request', () => {
  it('has the user and the token of the session that admitted it', () => {
    const request: GuardedRequest = {};
    expect(request[ADMISSION]?.session).toBeUndefined();
    attach(request, admission);
    expect([request[ADMISSION]?.session, request.user]).toEqual([admission.session, ann]);
  });

  it('has neither once a rule admits it without a session', () => {
    const request: GuardedRequest = {};
    attach(request, admission);
    attach(request, anonymous);
    expect([request[ADMISSION]?.session, request.user]).toEqual([undefined, undefined]);
  });

  it.each([
    ['this call by this authority', true, verifier, context],
    ['another call of the same request', false, verifier, {} as ExecutionContext],
    ['this call by another authority', false, { revoker: { count: 0 } }, context],
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
    attach(request, { ...admission, verifier: ending, isOwn: true });
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
    attach(request, { ...admission, isOwn: true });
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

  it('is not admitted before a guard has admitted it', () => {
    expect(isAdmitted({}, verifier, context)).toBe(false);
  });
});

describe('the admission of a request', () => {
  it('can be kept without the request, and is none before a guard has admitted it', () => {
    const request: GuardedRequest = {};
    expect([attachedTo(request), Reflect.ownKeys(attachedTo(request)), request[ADMISSION]]).toEqual([
      { user: undefined },
      ['user'],
      undefined,
    ]);
    attach(request, admission);
    expect(request[ADMISSION]).toBe(admission);
    const kept = attachedTo(request);
    expect([kept.user, kept[ADMISSION]?.session, isAdmitted(kept, verifier, context)]).toEqual([
      ann,
      admission.session,
      true,
    ]);
  });
});

describe('two calls that share an object', () => {
  const carrying = (own: Admission): object => {
    const request: GuardedRequest = {};
    attach(request, own);
    return request;
  };
  const other = { context: {} as ExecutionContext };

  it.each([
    ['of one call', { user: { username: 'bob' } }, true],
    ['of two calls with one session', other, true],
    ['of two calls, whose record was read again', { ...other, user: { username: 'ann' } }, true],
    ['of another authority', { context: other.context, verifier: { revoker: { count: 0 } } }, false],
    ['of another token', { ...other, session: { token: 'other', authIv: 'iv' } }, false],
    ['of another X-AUTH-IV', { ...other, session: { token: 'token', authIv: 'other' } }, false],
    ['of a call without a session', { ...anonymous, ...other }, false],
    ['of a user without a session', { ...other, session: undefined }, false],
  ])('with admissions %s have one admission or not', (_case, change, expected) => {
    expect(haveOneAdmission(carrying(admission), carrying({ ...admission, ...change }))).toBe(expected);
    expect(haveOneAdmission(carrying({ ...admission, ...change }), carrying(admission))).toBe(expected);
  });

  it('without a session have one admission, and so have those that no guard has admitted', () => {
    expect(haveOneAdmission(carrying(anonymous), carrying({ ...anonymous, ...other }))).toBe(true);
    const robot = { ...anonymous, user: { username: 'robot' } };
    expect(haveOneAdmission(carrying(robot), carrying({ ...robot, ...other }))).toBe(true);
    const another = { ...robot, ...other, user: { username: 'other' } };
    expect(haveOneAdmission(carrying(robot), carrying(another))).toBe(false);
    expect([haveOneAdmission({}, {}), haveOneAdmission({}, carrying(admission))]).toEqual([true, false]);
  });
});

describe('a request that one guard marked as stale', () => {
  const afterStale = (): { sessionIsStale?: true | undefined } => {
    const request: GuardedRequest = {};
    attach(request, admission, true);
    return request;
  };

  it('has sessionIsStale', () => {
    expect(afterStale()).toMatchObject({ user: ann, sessionIsStale: true });
  });

  it.each([
    ['confirms its session', (request: object) => attach(request, admission)],
    ['admits it without a session', (request: object) => attach(request, anonymous)],
  ])('is no longer stale once another guard %s', (_name, guard) => {
    const request = afterStale();
    guard(request);
    expect(request.sessionIsStale).toBeUndefined();
  });

  it('has a property that other requests do not have', () => {
    const [authenticated, anonymousRequest] = [{}, {}];
    attach(authenticated, admission);
    attach(anonymousRequest, anonymous);
    expect([authenticated, anonymousRequest].map((request) => Object.keys(request))).toEqual([
      ['user'],
      ['user'],
    ]);
  });
});
