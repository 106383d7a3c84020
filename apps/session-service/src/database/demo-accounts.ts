import { type CclInfo, type UserProfile } from '../users/user-record.js';

/** A demo user with the published password. */
export interface DemoAccount {
  readonly password: string;
  readonly pending: boolean;
  readonly profile: UserProfile;
}

/** The application key of the demo. */
export const DEMO_API_KEY = 'demo-api-key';

/** The users of the demo. */
export const DEMO_ACCOUNTS: readonly DemoAccount[] = [
  account('manager', false, {
    ...person('Hiring', 'Manager', { client_id: 4101, company_id: 210, location_id: 7 }),
    role: 'hiring_manager',
    sub_role: 'approver',
    preffered_language: 'en',
    help_checkbox: true,
    benestream_enabled: true,
  }),
  account('recruiter', false, {
    ...person('Hiring', 'Recruiter', { client_id: 4101, company_id: 210, location_id: 12 }),
    role: 'hiring_manager',
    sub_role: 'recruiter',
    preffered_language: 'es',
    help_checkbox: false,
    benestream_enabled: true,
  }),
  account('newhire', false, {
    ...person('New', 'Hire', { client_id: 4101, company_id: 215, location_id: 31 }),
    role: 'new_hire',
    preffered_language: 'fr',
    help_checkbox: true,
    benestream_enabled: false,
  }),
  account('pending', true, {
    ...person('Pending', 'Hire', { client_id: 4101, company_id: 215, location_id: 33 }),
    role: 'new_hire',
    preffered_language: 'en',
    help_checkbox: false,
    benestream_enabled: false,
  }),
];

function account(username: string, pending: boolean, profile: Omit<UserProfile, 'username'>): DemoAccount {
  return { password: `${username}-demo`, pending, profile: { username, ...profile } };
}

function person(firstName: string, lastName: string, cclInfo: CclInfo): Omit<UserProfile, 'username'> {
  return {
    first_name: firstName,
    last_name: lastName,
    email: `${firstName}.${lastName}@example.com`.toLowerCase(),
    client_name: 'Example Staffing',
    ccl_info: cclInfo,
    ats_enabled: true,
    obs_enabled: false,
    display_label: 'Example',
  };
}
