import { AUTH_IV_HEADER, AUTH_TOKEN_HEADER } from '../../../contract/wire.js';
import { Complaint } from '../complaint.js';
import type { Account, ContractClient } from '../contract-client.js';
import { expectEmpty, expectRecord, expectToken } from '../expectations.js';
import { randomText } from '../random-text.js';
import { type ContractRow, SECTIONS } from '../row.js';

const section = SECTIONS.signIn;

/** The paths of the sign-in, by the name that rows have for them. A sample request writes the trailing slash. */
export const SIGN_IN_PATHS = [
  ['sign-in', '/authentication'],
  ['sign-in-slash', '/authentication/'],
] as const;

/** Any IV: its format is not documented. */
export const ANY_IV = 'bm9uY2UtMTIzNDU2Nzg5MA==';

async function expectSignIn(client: ContractClient, account: Account, path?: string): Promise<void> {
  const record = expectRecord(await client.signIn(account, {}, path));
  expectToken(record);
  if (record.username !== undefined && record.username !== account.username)
    throw new Complaint('The record has another username than the sign-in.');
}

const rowsOfPaths = SIGN_IN_PATHS.flatMap(([name, path]): ContractRow[] => [
  {
    id: `${name}.record`,
    section,
    title: `POST ${path} answers 200 with the user record and a token.`,
    needs: 'user',
    run: (client) => expectSignIn(client, client.user, path),
  },
  {
    id: `${name}.record-of-others`,
    section,
    title: `POST ${path} answers 200 with the record of another user.`,
    needs: 'second user',
    run: async (client) => {
      for (const account of client.others) await expectSignIn(client, account, path);
    },
  },
  {
    id: `${name}.iv`,
    section,
    title: `POST ${path} accepts an X-AUTH-IV.`,
    needs: 'user',
    run: async (client) => void expectRecord(await client.signIn(client.user, { [AUTH_IV_HEADER]: ANY_IV }, path)),
  },
]);

/** Sign-ins that are granted. */
export const signInRows: readonly ContractRow[] = [
  ...rowsOfPaths,
  {
    id: 'sign-in.charset',
    section,
    title: 'A sign-in accepts a JSON media type with a charset.',
    needs: 'user',
    run: async (client) => void expectRecord(await client.signIn(client.user, { 'Content-Type': 'application/json; charset=utf-8' })),
  },
  {
    id: 'sign-in.any-token',
    section,
    title: 'A sign-in needs no X-AUTH-TOKEN, and does not mind one.',
    needs: 'user',
    run: async (client) => void expectRecord(await client.signIn(client.user, { [AUTH_TOKEN_HEADER]: randomText() })),
  },
  {
    id: 'sign-in.pending',
    section,
    title: 'The sign-in of a pending user answers 202 with an empty body.',
    needs: 'pending user',
    run: async (client) => expectEmpty(await client.signIn(client.pending), 202),
  },
];
