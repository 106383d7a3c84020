import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { UserRecord } from '../contract/record/user-record.js';
import {
  ADMISSION,
  attach,
  type Admission,
  type GuardedRequest,
  isAdmitted,
} from '../guard/guarded-request.js';
import { attachedTo, haveOneAdmission } from './execution.js';

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
