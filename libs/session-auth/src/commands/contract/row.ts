import type { ContractClient } from './contract-client.js';

/** The requirement of a row besides the application key. */
export type Need = 'nothing' | 'user' | 'second user' | 'pending user';

/** One statement of the contract, and how it is checked. */
export interface ContractRow {
  /** Stable, such as `sign-out.ends-session`. */
  readonly id: string;
  /** Section of the interface. */
  readonly section: Section;
  /** The requirement, as a sentence. */
  readonly title: string;
  readonly needs: Need;
  /** Signs the user in with a wrong password, which may lock the account. */
  readonly triesWrongPassword?: true;
  /** Checks it. @throws Complaint if it does not hold, and {@link NoReply} if it could not be determined */
  readonly run: (client: ContractClient) => Promise<void>;
}

/** The sections of the interface that have rows, in the order of the report. */
export const SECTIONS = {
  signIn: '4.1 Sign in: POST /authentication',
  signOut: '4.2 Sign out: DELETE /authentication',
  userDetails: '4.3 User details: GET /authentication/user_details',
  authentication: '5 Authentication: X-API-KEY and X-AUTH-TOKEN',
} as const;

/** A section of the interface. */
type Section = (typeof SECTIONS)[keyof typeof SECTIONS];
