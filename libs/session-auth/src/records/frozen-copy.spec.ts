import { describe, expect, it } from '@jest/globals';
import type { UserRecordSchema } from '../contract/record/user-record.js';
import { prepareOwnReader } from './schema-record.js';

describe('what a schema puts into a record', () => {
  /** The record that a schema makes of every reply but the one of the start, and what is reported. */
  const read = (value: object): { readonly user: unknown; readonly said: string[] } => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (json: object) => ({ value: { ...json, ...value } }),
      },
    } as unknown as UserRecordSchema;
    const said: string[] = [];
    const reader = prepareOwnReader(schema)((_field, text) => said.push(text));
    return { user: reader.read({ username: 'ann' }), said };
  };

  it('is frozen in the record at every depth, and not where it comes from [P67]', () => {
    const live = { count: 1, tags: ['a'], since: new Date(0), seen: new Map([['a', 1]]) };
    const { user } = read({ live });
    expect(user).toEqual({ username: 'ann', live });
    const copy = (user as { readonly live: typeof live }).live;
    expect([user, copy, copy.tags].map(Object.isFrozen)).toEqual([true, true, true]);
    expect([live, live.tags, live.since, live.seen].map(Object.isFrozen)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    live.count = 2;
    live.tags.push('b');
    expect(copy).toMatchObject({ count: 1, tags: ['a'] });
  });

  it('may be in the record twice, but contains neither itself nor a promise [P67]', () => {
    const shared = { id: 1 };
    const cyclic: Record<string, unknown> = { list: [] };
    (cyclic.list as unknown[]).push(cyclic);
    expect(read({ one: shared, other: shared }).user).toMatchObject({ one: shared, other: shared });
    expect(read({ cyclic })).toEqual({ user: undefined, said: ['the record must not contain itself'] });
    expect(read({ late: [Promise.reject(new Error('late'))] })).toEqual({
      user: undefined,
      said: ['the record must not contain a promise'],
    });
  });
});
