import { describe, expect, it } from '@jest/globals';
import { ADMISSION, type Admission, type GuardedRequest } from '../guard/guarded-request.js';
import { attachedTo, haveOneAdmission } from './execution.js';

const session = { token: 'token', authIv: 'iv' };
const admission = { verifier: {}, context: {}, session, user: { username: 'ann' } } as unknown as Admission;
const anonymous = { ...admission, user: undefined, session: undefined };
const carrying = (own: object): GuardedRequest => ({ [ADMISSION]: own as Admission });

describe('the admission of a request', () => {
  it('can be kept without the request, and is none before a guard has admitted it', () => {
    expect(Reflect.ownKeys(attachedTo({}))).toEqual(['user']);
    const { user } = admission;
    expect(attachedTo({ user, ...carrying(admission), method: 'POST' })).toEqual({
      user,
      ...carrying(admission),
    });
  });
});

describe('two calls that share an object', () => {
  const other = { context: {} };

  it.each([
    ['of one call', { user: { username: 'bob' } }, true],
    ['of two calls with one session', other, true],
    ['of two calls, whose record was read again', { ...other, user: { username: 'ann' } }, true],
    ['of another authority', { ...other, verifier: {} }, false],
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
