import { describe, expect, it } from '@jest/globals';
import { SessionBook } from './session-book.js';

const ann = { username: 'ann' };
const bob = { username: 'bob' };

describe('the sessions of a test', () => {
  it('have the record of their user, with the token', () => {
    const book = new SessionBook();
    const token = book.open(ann);
    expect(token).toMatch(/^test-.{36}$/);
    expect(book.recordOf(token)).toEqual({ username: 'ann', auth_token: token });
    expect(book.recordOf('other')).toBeUndefined();
    expect(book.open(ann)).not.toBe(token);
  });

  it('have the token and the auth_token that the test chooses', () => {
    const book = new SessionBook();
    expect(book.open({ ...ann, auth_token: 'other' }, 'chosen')).toBe('chosen');
    expect(book.recordOf('chosen')).toEqual({ username: 'ann', auth_token: 'other' });
  });

  it('end one at a time, or all those of a user', () => {
    const book = new SessionBook();
    const [first, second, third, other] = [ann, ann, ann, bob].map((record) => book.open(record)) as [
      string,
      string,
      string,
      string,
    ];
    expect([book.revoke(first), book.revoke(first)]).toEqual([true, false]);
    expect([first, second, third, other].map((token) => book.recordOf(token) !== undefined)).toEqual([
      false,
      true,
      true,
      true,
    ]);
    book.endUser('ann');
    expect([second, third, other].map((token) => book.recordOf(token) !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('all end, or the oldest of more than 100 000', () => {
    const book = new SessionBook();
    const first = book.open(ann);
    const second = book.open(bob);
    for (let count = book.size; count < 100_000; count += 1) book.open(ann, `${count}`);
    expect([book.size, book.recordOf(first) !== undefined]).toEqual([100_000, true]);
    book.open(ann);
    expect([book.size, book.recordOf(first), book.recordOf(second) !== undefined]).toEqual([
      100_000,
      undefined,
      true,
    ]);
    book.endUser();
    expect(book.size).toBe(0);
  });
});
