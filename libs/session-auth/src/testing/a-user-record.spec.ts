import { describe, expect, it } from '@jest/globals';
import { aUserRecord } from './a-user-record.js';

const EVERY_FIELD = {
  username: 'test.user',
  first_name: 'Test',
  last_name: 'User',
  email: 'test.user@example.com',
  role: 'hiring_manager',
  sub_role: 'approver',
  preffered_language: 'en',
  help_checkbox: false,
  benestream_enabled: false,
  client_name: 'Example Client',
  ccl_info: { client_id: 1, company_id: 10, location_id: 100 },
  ats_enabled: true,
  obs_enabled: false,
  display_label: 'Client',
};

describe('aUserRecord()', () => {
  it('is the same whole record each time, so that tests may rely on what they leave out', () => {
    expect(aUserRecord()).toEqual(EVERY_FIELD);
    Object.assign(aUserRecord().ccl_info as object, { client_id: 2 });
    expect(aUserRecord()).toEqual(EVERY_FIELD);
  });

  it('replaces and adds the fields that it is given, and omits those that are null', () => {
    expect(aUserRecord({ sub_role: null, role: 'new_hire', level: 3 } as object)).toEqual({
      ...EVERY_FIELD,
      sub_role: undefined,
      role: 'new_hire',
      level: 3,
    });
    expect(aUserRecord({ sub_role: null })).not.toHaveProperty('sub_role');
  });
});
