import type { Account, ServiceClient } from '../calls/service-client.js';
import {
  Complaint,
  expectEmpty,
  expectRecord,
  expectRefusal,
  expectStatus,
  expectToken,
  openSession,
} from './expectations.js';
import { HEADER_ROWS } from './header-rows.js';
import { type ContractRow, rowsOf, SECTIONS } from './row.js';
import { ANY_IV, SIGN_IN_ROWS } from './sign-in-rows.js';

const signOut = rowsOf(SECTIONS.signOut);
const userDetails = rowsOf(SECTIONS.userDetails);
const READS_AT_ONCE = 5;

async function expectSameUser(client: ServiceClient, user: Account): Promise<void> {
  const signedIn = expectRecord(await client.signIn(user));
  const read = expectRecord(await client.userDetails(expectToken(signedIn)));
  if (read.username !== signedIn.username)
    throw new Complaint('The record has another username than that of the sign-in.');
}

/** The contract of the session service, in the order of the interface. Rows do not depend on each other. */
export const CONTRACT_ROWS: readonly ContractRow[] = [
  ...SIGN_IN_ROWS,
  signOut(
    'sign-out.ends-session',
    'A sign-out answers 200 with an empty body, and the token is refused from then on.',
    async (client, user) => {
      const token = await openSession(client, user);
      expectEmpty(await client.signOut(token), 200);
      expectRefusal(await client.userDetails(token));
    },
  ),
  signOut('sign-out.iv', 'A sign-out accepts the X-AUTH-IV of the sign-in.', async (client, user) =>
    expectEmpty(await client.signOut(await openSession(client, user, ANY_IV), ANY_IV), 200),
  ),
  userDetails(
    'user-details.record',
    'user_details answers 200 with the record of the user that signed in.',
    expectSameUser,
  ),
  rowsOf(SECTIONS.userDetails, 'second user')(
    'user-details.record-of-others',
    'user_details answers 200 with the record of another user that signed in.',
    expectSameUser,
  ),
  userDetails('user-details.iv', 'user_details accepts the X-AUTH-IV of the sign-in.', async (client, user) =>
    expectRecord(await client.userDetails(await openSession(client, user, ANY_IV), ANY_IV)),
  ),
  userDetails(
    'user-details.repeated',
    'user_details answers as often as it is asked.',
    async (client, user) => {
      const token = await openSession(client, user);
      const reads = Array.from({ length: READS_AT_ONCE }, () => client.userDetails(token));
      for (const answer of await Promise.all(reads)) expectStatus(answer, 200);
    },
  ),
  ...HEADER_ROWS,
];
