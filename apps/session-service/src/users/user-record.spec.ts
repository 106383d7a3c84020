import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toUserRecord, toUserRow, type UserProfile } from './user-record.js';

const text = fc.string();
const flag = fc.boolean();
const identifiers = fc.record(
  { client_id: fc.integer(), company_id: fc.integer(), location_id: fc.integer() },
  { requiredKeys: ['client_id'] },
);
const profiles = fc.record(
  {
    username: text,
    first_name: text,
    last_name: text,
    email: text,
    role: text,
    sub_role: text,
    preffered_language: text,
    help_checkbox: flag,
    benestream_enabled: flag,
    client_name: text,
    ccl_info: identifiers,
    ats_enabled: flag,
    obs_enabled: flag,
    display_label: text,
  },
  { requiredKeys: ['username'], noNullPrototype: true },
);

describe('the user record', () => {
  it('has exactly the fields of the profile', () => {
    fc.assert(
      fc.property(profiles, (profile) => {
        expect(toUserRecord(asRead(profile), 'token')).toEqual({ ...profile, auth_token: 'token' });
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
    const absent = {
      first_name: null,
      last_name: null,
      email: null,
      role: null,
      sub_role: null,
      preffered_language: null,
    };
    const absentToo = {
      client_name: null,
      client_id: null,
      company_id: null,
      location_id: null,
      display_label: null,
    };
    const flags = { help_checkbox: null, benestream_enabled: null, ats_enabled: null, obs_enabled: null };
    return { ...absent, ...absentToo, ...flags, ...toUserRow(profile, 'hash', false) };
  }
});
