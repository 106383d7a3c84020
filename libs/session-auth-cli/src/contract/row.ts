import type { Account, ServiceClient } from '../calls/service-client.js';

export type Need = 'nothing' | 'user' | 'second user' | 'pending user';

/** The sections of the interface that have rows. */
export const SECTIONS = {
  signIn: '4.1 Sign in: POST /authentication',
  signOut: '4.2 Sign out: DELETE /authentication',
  userDetails: '4.3 User details: GET /authentication/user_details',
  authentication: '5 Authentication: X-API-KEY and X-AUTH-TOKEN',
} as const;

/** `user` is unknown if the row needs none. @throws Complaint if it does not hold */
type Run = (client: ServiceClient, user: Account) => Promise<unknown>;

export interface ContractRow {
  /** Stable, such as `sign-out.ends-session`. */
  readonly id: string;
  readonly section: (typeof SECTIONS)[keyof typeof SECTIONS];
  readonly title: string;
  readonly needs: Need;
  readonly run: Run;
  /** Signs the user in with a wrong password, which may lock the account. */
  readonly triesWrongPassword?: boolean;
}

export function rowsOf(
  section: ContractRow['section'],
  needs: Need = 'user',
): (id: string, title: string, run: Run) => ContractRow {
  return (id, title, run) => ({ id, section, title, needs, run });
}

export interface RowResult extends Pick<ContractRow, 'id' | 'title'> {
  readonly section: string;
  readonly outcome: 'ok' | 'fail' | 'skipped';
  /** Why it fails, or is skipped. Holds no text of a reply. */
  readonly text?: string;
  readonly seconds: number;
}
