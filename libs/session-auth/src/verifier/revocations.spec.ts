import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../contract/session-identity.js';
import { Revocations } from './revocations.js';

function revocationsAt(lifetimeMs = 100) {
  const clock = { nowMs: 1_000 };
  jest.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  return { clock, revocations: new Revocations(lifetimeMs) };
}

afterEach(() => void jest.restoreAllMocks());

const ann = { username: 'ann' };
const bob = { username: 'bob' };

describe('the revocation of a user', () => {
  it('revokes sessions of the user that were authenticated before it, or in the same millisecond', () => {
    const { clock, revocations } = revocationsAt();
    expect([revocations.hasNoUsers, revocations.revokesUser(ann, 999)]).toEqual([true, false]);
    clock.nowMs = 1_000.9;
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    const revoked = [999.9, 1_000, 1_000.95, 1_001].map((atMs) => revocations.revokes(ann, atMs));
    expect(revoked).toEqual([true, true, true, false]);
    expect([revocations.revokesUser(bob, 999), revocations.hasNoUsers]).toEqual([false, false]);
  });

  it('does not affect a record without a user name', () => {
    const { revocations } = revocationsAt();
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    const users = [{}, { username: 7 }, 'ann'];
    expect(users.map((user) => revocations.revokesUser(user, 0))).toEqual([false, false, false]);
  });

  it('can be repeated, and the latest applies', () => {
    const { clock, revocations } = revocationsAt();
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    clock.nowMs += 50;
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    expect(revocations.revokesUser(ann, 1_040)).toBe(true);
  });

  it('expires after five minutes, or after a longer lifetime', () => {
    for (const [lifetimeMs, keptMs] of [
      [100, 300_000],
      [400_000, 400_000],
    ] as const) {
      const { clock, revocations } = revocationsAt(lifetimeMs);
      revocations.add({ kind: 'userRevoked', username: 'ann' });
      clock.nowMs += keptMs;
      revocations.add({ kind: 'userRevoked', username: 'bob' });
      expect(revocations.revokesUser(ann, 999)).toBe(true);
      clock.nowMs += 1;
      revocations.add({ kind: 'userRevoked', username: 'bob' });
      expect([revocations.revokesUser(ann, 999), revocations.revokesUser(bob, 999)]).toEqual([false, true]);
    }
  });

  it('no longer slows reads of other sessions when the newest has expired', () => {
    const { clock, revocations } = revocationsAt(100);
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    clock.nowMs += 50;
    revocations.add({ kind: 'userRevoked', username: 'bob' });
    const hasNoUsersAfter = (ms: number): boolean => {
      clock.nowMs += ms;
      return revocations.hasNoUsers;
    };
    expect([51, 49, 1, 0].map(hasNoUsersAfter)).toEqual([false, false, true, true]);
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    expect([revocations.hasNoUsers, revocations.revokesUser(ann, clock.nowMs)]).toEqual([false, true]);
  });

  it('still applies to a check that began before it and took longer than its lifetime', () => {
    const { clock, revocations } = revocationsAt(100);
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    clock.nowMs += 3_000;
    expect([revocations.hasNoUsers, revocations.revokes(ann, 1_000)]).toEqual([true, true]);
  });
});

describe('the revocation of all users', () => {
  it('revokes every earlier session, with and without a user name, and leaves none to compare by user', () => {
    const { revocations } = revocationsAt();
    revocations.add({ kind: 'userRevoked', username: 'ann' });
    revocations.add({ kind: 'allRevoked' });
    expect([ann, {}].map((user) => revocations.revokes(user, 1_000))).toEqual([true, true]);
    expect([revocations.revokes(ann, 1_001), revocations.hasNoUsers]).toEqual([false, true]);
  });

  it('replaces too many revocations of single users, so that their number is bounded and none is lost', () => {
    const { revocations } = revocationsAt(60_000);
    for (let user = 0; user <= 10_000; user += 1)
      revocations.add({ kind: 'userRevoked', username: `user ${user}` });
    for (const user of ['user 0', 'user 5000', 'user 10000', 'bystander']) {
      expect([user, revocations.revokes({ username: user }, 1_000)]).toEqual([user, true]);
      expect([user, revocations.revokes({ username: user }, 1_001)]).toEqual([user, false]);
    }
  });
});

describe('a possible loss of messages', () => {
  it('affects answers from before it, or of the same millisecond', () => {
    const { clock, revocations } = revocationsAt();
    expect(revocations.lostMessagesSince(0)).toBe(false);
    clock.nowMs = 1_000.5;
    revocations.addMessageLoss();
    const lost = [999, 1_000, 1_000.9, 1_001].map((atMs) => revocations.lostMessagesSince(atMs));
    expect([lost, revocations.revokes(ann, 999)]).toEqual([[true, true, true, false], false]);
  });
});

describe('the revocation of a session', () => {
  it('revokes earlier answers about the session, and nothing else', () => {
    const { revocations } = revocationsAt();
    revocations.add({ kind: 'evicted', tokenKey: 'token' as TokenKey });
    const revokes = (atMs: number, token?: string) => revocations.revokes(ann, atMs, token as TokenKey);
    expect([1_001, 1_000, 999].map((atMs) => revokes(atMs, 'token'))).toEqual([false, true, true]);
    expect([revokes(999, 'another'), revokes(999)]).toEqual([false, false]);
  });

  it('becomes that of every session, when there are more than 10 000 [Q11]', () => {
    const { revocations } = revocationsAt(60_000);
    const added = Array.from({ length: 10_001 }, (_, token) =>
      revocations.add({ kind: 'evicted', tokenKey: `token ${token}` as TokenKey }),
    );
    expect([added.indexOf('all'), added.at(-1)]).toEqual([10_000, 'all']);
    for (const token of ['token 0', 'token 10000', 'of a bystander'])
      expect(revocations.revokes(ann, 999, token as TokenKey)).toBe(true);
  });
});
