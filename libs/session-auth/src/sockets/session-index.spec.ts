import { describe, expect, it, jest } from '@jest/globals';
import { SESSION_REJECTED } from '../contract/denials.js';
import { type EndsWithSession, SessionIndex } from './session-index.js';

/** A member that notes each end. */
class Member implements EndsWithSession {
  readonly ends: unknown[] = [];

  constructor(readonly fault?: Error) {}

  end(denial: unknown): void {
    this.ends.push(denial);
    if (this.fault) throw this.fault;
  }
}

/** An index with two members of one session and one of another. */
function indexOfThree() {
  const [first, second, other] = [new Member(), new Member(), new Member()];
  const index = new SessionIndex<Member>();
  index.add('session', first);
  index.add('session', second);
  index.add('other', other);
  return { index, first, second, other, ends: () => [first, second, other].map((member) => member.ends) };
}

describe('an index of sessions', () => {
  it('is empty at first', () => {
    const index = new SessionIndex<Member>();
    expect([index.size, index.countOf('session'), index.all()]).toEqual([0, 0, []]);
  });

  it('counts its members, and those of each session', () => {
    const { index } = indexOfThree();
    expect([index.size, index.countOf('session'), index.countOf('other'), index.countOf('unknown')]).toEqual([
      3, 2, 1, 0,
    ]);
  });

  it('has a copy of the list of all members', () => {
    const { index, first, second, other } = indexOfThree();
    index.all().pop();
    expect(index.all()).toEqual([first, second, other]);
  });

  it('removes a member of its own session once', () => {
    const { index, first, second } = indexOfThree();
    index.delete('other', first);
    index.delete('unknown', first);
    expect(index.size).toBe(3);
    index.delete('session', first);
    index.delete('session', first);
    expect([index.size, index.countOf('session'), index.all()[0]]).toEqual([2, 1, second]);
    index.delete('session', second);
    expect([index.size, index.countOf('session'), index.countOf('other')]).toEqual([1, 0, 1]);
  });

  it('removes a session with its last member', () => {
    const { index, first, second } = indexOfThree();
    const removed = jest.spyOn(Map.prototype, 'delete');
    index.delete('session', first);
    expect(removed).not.toHaveBeenCalled();
    index.delete('session', second);
    expect(removed.mock.calls).toEqual([['session']]);
    removed.mockRestore();
  });

  it('has a session again after all its members were removed', () => {
    const { index, other } = indexOfThree();
    index.delete('other', other);
    index.add('other', other);
    index.end('other', SESSION_REJECTED);
    expect([index.size, other.ends]).toEqual([3, [SESSION_REJECTED]]);
  });

  it('ends the members of one session, and no others', () => {
    const { index, ends } = indexOfThree();
    index.end('session', SESSION_REJECTED);
    index.end('unknown', SESSION_REJECTED);
    expect(ends()).toEqual([[SESSION_REJECTED], [SESSION_REJECTED], []]);
  });

  it('ends the members that pass a test, of all sessions', () => {
    const { index, first, ends } = indexOfThree();
    index.endWhere((member) => member !== first, SESSION_REJECTED);
    expect(ends()).toEqual([[], [SESSION_REJECTED], [SESSION_REJECTED]]);
  });

  it('ends every member though some throw, and throws the first error at the end', () => {
    const index = new SessionIndex<Member>();
    const members = [new Member(new Error('first')), new Member(new Error('second')), new Member()];
    for (const member of members) index.add('session', member);
    expect(() => index.end('session', SESSION_REJECTED)).toThrow('first');
    expect(members.map(({ ends }) => ends)).toEqual(Array(3).fill([SESSION_REJECTED]));
  });

  it('ends members that remove themselves', () => {
    const { index, first, second, ends } = indexOfThree();
    const removing = { end: (): void => index.delete('session', first) } as unknown as Member;
    index.add('session', removing);
    index.endWhere(() => true, SESSION_REJECTED);
    expect([index.countOf('session'), ends()]).toEqual([
      2,
      [[SESSION_REJECTED], [SESSION_REJECTED], [SESSION_REJECTED]],
    ]);
    expect(second.ends).toHaveLength(1);
  });
});
