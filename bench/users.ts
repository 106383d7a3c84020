import { createHash } from 'node:crypto';

const FIRST_NAMES = ['Ann', 'Bo', 'Cleo', 'Dag', 'Eve', 'Finn', 'Gro', 'Hal'];
const ROLES = ['hiring_manager', 'new_hire'];

/** The answers to a token; users may be of several groups, which are counted separately. */
export type TokenKind = `user${string}` | 'refused' | 'random';

const TOKEN_LENGTH = 36;

/** A token as long as a UUID. Its first part selects the answer of the service, its second the user. */
export function token(kind: TokenKind, number: number): string {
  const digest = createHash('sha256').update(`${kind}${number}`).digest('hex');
  return `${kind}.${number}.${digest}`.slice(0, TOKEN_LENGTH);
}

/** Tokens of as many users. */
export function tokens(kind: TokenKind, count: number): string[] {
  return Array.from({ length: count }, (_, index) => token(kind, index));
}

/**
 * The whole record of a user, as the service sends it: own names and ids, and strings that many users share.
 */
export function userJson(number: number, authToken: string): string {
  const client = number % 50;
  return JSON.stringify({
    username: `user-${number}`,
    first_name: FIRST_NAMES[number % FIRST_NAMES.length],
    last_name: `Lastname-${number % 500}`,
    email: `user-${number}@example.com`,
    role: ROLES[number % 10 === 0 ? 0 : 1],
    sub_role: number % 10 === 0 ? 'approver' : 'none',
    auth_token: authToken,
    preffered_language: 'en',
    help_checkbox: true,
    benestream_enabled: false,
    client_name: `Client number ${client}`,
    ccl_info: { client_id: client, company_id: 1_000 + client, location_id: 20_000 + (number % 500) },
    ats_enabled: true,
    obs_enabled: false,
    display_label: `Client ${client} (North)`,
  });
}
