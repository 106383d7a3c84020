import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toUserRecord, toUserRow, type UserProfile } from './user-record.js';

const text = fc.string();
const identifiers = fc.record(
  { client_id: fc.integer(), company_id: fc.integer(), location_id: fc.integer() },
  { requiredKeys: ['client_id'] },
);
const texts = [
  'first_name',
  'last_name',
  'email',
  'role',
  'sub_role',
  'preffered_language',
  'client_name',
  'display_label',
];
const flags = ['help_checkbox', 'benestream_enabled', 'ats_enabled', 'obs_enabled'];
const all = <Value>(names: readonly string[], value: Value): Record<string, Value> =>
  Object.fromEntries(names.map((name) => [name, value]));
const profiles = fc.record(
  { username: text, ccl_info: identifiers, ...all(texts, text), ...all(flags, fc.boolean()) },
  { requiredKeys: ['username'], noNullPrototype: true },
);

describe('the user record', () => {
  it('has exactly the fields of the profile', () => {
    fc.assert(
      fc.property(profiles, (profile) => {
        expect(toUserRecord(asRead(profile as UserProfile), 'token')).toEqual({
          ...profile,
          auth_token: 'token',
        });
      }),
    );
  });

  it('has no ccl_info when no identifier is known', () => {
    expect(toUserRecord(asRead({ username: 'ann', ccl_info: {} }), 'token')).toEqual({
      username: 'ann',
      auth_token: 'token',
    });
  });

  function asRead(profile: UserProfile): Parameters<typeof toUserRecord>[0] {
    const absent = all([...texts, ...flags, 'client_id', 'company_id', 'location_id'], null);
    return { ...absent, ...toUserRow(profile, 'hash', false) } as Parameters<typeof toUserRecord>[0];
  }
});
