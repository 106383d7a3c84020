import { describe, expect, it } from '@jest/globals';
import { toUserRecord, toUserRow, type UserProfile } from './user-record.js';

const TEXTS = {
  first_name: 'Ann',
  last_name: 'Lee',
  email: 'ann@example.com',
  role: 'hiring_manager',
  sub_role: 'approver',
  preffered_language: 'en',
  client_name: 'Client',
  display_label: '',
};
const FLAGS = { help_checkbox: true, benestream_enabled: false, ats_enabled: true, obs_enabled: false };
const IDS = { client_id: 0, company_id: 2, location_id: 3 };

describe('the user record', () => {
  it.each<[what: string, profile: UserProfile]>([
    ['every field', { username: 'ann', ...TEXTS, ...FLAGS, ccl_info: IDS }],
    ['one identifier', { username: 'ann', ccl_info: { client_id: 7 } }],
    ['a name alone', { username: 'ann' }],
  ])('has exactly the fields of a profile with %s', (_what, profile) => {
    expect(toUserRecord(asRead(profile), 'token')).toEqual({ ...profile, auth_token: 'token' });
  });

  it('has no ccl_info when no identifier is known', () => {
    expect(toUserRecord(asRead({ username: 'ann', ccl_info: {} }), 'token')).toEqual({
      username: 'ann',
      auth_token: 'token',
    });
  });

  function asRead(profile: UserProfile): Parameters<typeof toUserRecord>[0] {
    const names = Object.keys({ ...TEXTS, ...FLAGS, ...IDS });
    const absent = Object.fromEntries(names.map((name) => [name, null]));
    return { ...absent, ...toUserRow(profile, 'hash', false) } as Parameters<typeof toUserRecord>[0];
  }
});
