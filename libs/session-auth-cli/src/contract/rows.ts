import { HEADER_ROWS } from './header-rows.js';
import type { ContractRow } from './row.js';
import { SESSION_ROWS } from './session-rows.js';
import { SIGN_IN_ROWS } from './sign-in-rows.js';

/** The contract of the session service, in the order of the interface. Rows do not depend on each other. */
export const CONTRACT_ROWS: readonly ContractRow[] = [...SIGN_IN_ROWS, ...SESSION_ROWS, ...HEADER_ROWS];
