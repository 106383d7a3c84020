import { AUTH_TOKEN_HEADER, AUTHENTICATION_PATH, USER_DETAILS_PATH } from '../../../contract/wire.js';
import type { ContractClient, RowRequest } from '../contract-client.js';

/** An operation of the interface, for rows that hold for several. */
export interface Operation {
  readonly id: 'sign-in' | 'sign-out' | 'user-details';
  readonly method: RowRequest['method'];
  readonly path: string;
}

const SIGN_IN: Operation = { id: 'sign-in', method: 'POST', path: AUTHENTICATION_PATH };

/** The operations that take a token. */
export const TOKEN_OPERATIONS: readonly Operation[] = [
  { id: 'sign-out', method: 'DELETE', path: AUTHENTICATION_PATH },
  { id: 'user-details', method: 'GET', path: USER_DETAILS_PATH },
];

/** All operations. */
export const OPERATIONS: readonly Operation[] = [SIGN_IN, ...TOKEN_OPERATIONS];

/** Returns a request that the service would grant if it had an application key. Opens a session for it if it needs one. */
export async function grantedRequest({ method, path }: Operation, client: ContractClient): Promise<RowRequest> {
  if (method === 'POST') return { method, path, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(client.user) };
  return { method, path, headers: { [AUTH_TOKEN_HEADER]: await client.openSession() } };
}
