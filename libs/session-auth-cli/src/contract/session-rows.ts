import type { Account } from '../calls/service-client.js';
import type { ContractClient } from './contract-client.js';
import { Complaint, expectEmpty, expectRecord, expectStatus, expectToken } from './expectations.js';
import { type ContractRow, rowsOf, SECTIONS } from './row.js';
import { ANY_IV } from './sign-in-rows.js';

const signOut = rowsOf(SECTIONS.signOut);
const userDetails = rowsOf(SECTIONS.userDetails);
const READS_AT_ONCE = 5;

async function expectSameUser(client: ContractClient, account: Account): Promise<void> {
  const signedIn = expectRecord(await client.signIn(account));
  const read = expectRecord(await client.userDetails(expectToken(signedIn)));
  if (read.username !== signedIn.username)
    throw new Complaint('The record has another username than that of the sign-in.');
}

export const SESSION_ROWS: readonly ContractRow[] = [
  signOut(
    'sign-out.ends-session',
    'A sign-out answers 200 with an empty body, and the token is refused from then on.',
    'user',
    async (client) => {
      const token = await client.openSession();
      expectEmpty(await client.signOut(token), 200);
      client.expectRefusal(await client.userDetails(token));
    },
  ),
  signOut('sign-out.iv', 'A sign-out accepts the X-AUTH-IV of the sign-in.', 'user', async (client) =>
    expectEmpty(await client.signOut(await client.openSession(ANY_IV), ANY_IV), 200),
  ),
  userDetails(
    'user-details.record',
    'user_details answers 200 with the record of the user that signed in.',
    'user',
    (client) => expectSameUser(client, client.user),
  ),
  userDetails(
    'user-details.record-of-others',
    'user_details answers 200 with the record of another user that signed in.',
    'second user',
    (client) => expectSameUser(client, client.accountOf('second user')),
  ),
  userDetails(
    'user-details.iv',
    'user_details accepts the X-AUTH-IV of the sign-in.',
    'user',
    async (client) => expectRecord(await client.userDetails(await client.openSession(ANY_IV), ANY_IV)),
  ),
  userDetails(
    'user-details.repeated',
    'user_details answers as often as it is asked.',
    'user',
    async (client) => {
      const token = await client.openSession();
      const replies = await Promise.all(
        Array.from({ length: READS_AT_ONCE }, () => client.userDetails(token)),
      );
      for (const reply of replies) expectStatus(reply, [200]);
    },
  ),
];
