import type { ContractRow } from './row.js';
import { applicationKeyRows } from './rows/application-key.js';
import { malformedSignInRows } from './rows/malformed-sign-in.js';
import { signInRows } from './rows/sign-in.js';
import { signOutRows } from './rows/sign-out.js';
import { tokenRows } from './rows/token.js';
import { userDetailsRows } from './rows/user-details.js';
import { wrongCredentialsRows } from './rows/wrong-credentials.js';

/** The contract of the session service, in the order of the interface. Rows do not depend on each other. */
export const CONTRACT_ROWS: readonly ContractRow[] = [
  ...signInRows,
  ...malformedSignInRows,
  ...wrongCredentialsRows,
  ...signOutRows,
  ...userDetailsRows,
  ...applicationKeyRows,
  ...tokenRows,
];
