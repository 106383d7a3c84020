import { describe, expect, it } from '@jest/globals';
import { UserRevocations } from './user-revocations.js';

function revocationsAt(lifetimeMs = 100) {
  const clock = { nowMs: 1_000 };
  return { clock, revocations: new UserRevocations(lifetimeMs, () => clock.nowMs) };
}

const ann = { username: 'ann' };
const bob = { username: 'bob' };

describe('the revocation of a user', () => {
  it('revokes sessions of that user that were confirmed before it, or in the same millisecond', () => {
    const { clock, revocations } = revocationsAt();
    expect([revocations.isEmpty, revocations.revokes(ann, 999)]).toEqual([true, false]);
    clock.nowMs = 1_000.9;
    revocations.add('ann');
    expect([999, 1_000, 1_001].map((confirmedAtMs) => revocations.revokes(ann, confirmedAtMs))).toEqual([true, true, false]);
    expect(revocations.revokes(bob, 999)).toBe(false);
    expect(revocations.isEmpty).toBe(false);
  });

  it('counts the time back from now', () => {
    const { clock, revocations } = revocationsAt();
    revocations.add('ann');
    clock.nowMs += 10;
    expect([0, 9.5, 10, 11].map((ageMs) => revocations.revokedWithin(ann, ageMs))).toEqual([false, true, true, true]);
  });

  it('leaves a record without a user name alone', () => {
    const { revocations } = revocationsAt();
    revocations.add('ann');
    expect([{}, { username: 7 }, { username: null }, 'ann'].map((user) => revocations.revokes(user, 0))).toEqual(Array(4).fill(false));
  });

  it('can be repeated, and the later one counts', () => {
    const { clock, revocations } = revocationsAt();
    revocations.add('ann');
    clock.nowMs += 50;
    revocations.add('ann');
    expect(revocations.revokes(ann, 1_040)).toBe(true);
  });

  it('is forgotten after its lifetime, when no session of before can be cached any more', () => {
    const { clock, revocations } = revocationsAt(100);
    revocations.add('ann');
    clock.nowMs += 101;
    revocations.add('bob');
    expect([revocations.revokes(ann, 999), revocations.revokes(bob, 999)]).toEqual([false, true]);
  });
});

describe('the revocation of all users', () => {
  it('revokes every session of before, with and without a user name', () => {
    const { revocations } = revocationsAt();
    revocations.addAll();
    expect([ann, bob, {}, 'ann'].map((user) => revocations.revokes(user, 1_000))).toEqual(Array(4).fill(true));
    expect(revocations.revokes(ann, 1_001)).toBe(false);
  });

  it('takes the place of too many single ones, so that their number is bounded and none is lost', () => {
    const { revocations } = revocationsAt(60_000);
    for (let user = 0; user <= 10_000; user += 1) revocations.add(`user ${user}`);
    for (const user of ['user 0', 'user 5000', 'user 10000', 'bystander']) {
      expect([user, revocations.revokes({ username: user }, 1_000)]).toEqual([user, true]);
      expect([user, revocations.revokes({ username: user }, 1_001)]).toEqual([user, false]);
    }
  });
});
