import { AUTH_IV_HEADER } from '../../../contract/wire.js';
import { Complaint } from '../complaint.js';
import type { Account, ContractClient } from '../contract-client.js';
import { expectRecord, expectStatus, expectToken } from '../expectations.js';
import { type ContractRow, SECTIONS } from '../row.js';
import { ANY_IV } from './sign-in.js';

const section = SECTIONS.userDetails;
const READS_AT_ONCE = 5;

async function expectSameUser(client: ContractClient, account: Account): Promise<void> {
  const signedIn = expectRecord(await client.signIn(account));
  const read = expectRecord(await client.userDetails(expectToken(signedIn)));
  if (read.username !== signedIn.username) throw new Complaint('The record has another username than that of the sign-in.');
}

/** Reads of the user of a session. */
export const userDetailsRows: readonly ContractRow[] = [
  {
    id: 'user-details.record',
    section,
    title: 'user_details answers 200 with the record of the user that signed in.',
    needs: 'user',
    run: (client: ContractClient): Promise<void> => expectSameUser(client, client.user),
  },
  {
    id: 'user-details.record-of-others',
    section,
    title: 'user_details answers 200 with the record of another user that signed in.',
    needs: 'second user',
    run: async (client: ContractClient): Promise<void> => {
      for (const account of client.others) await expectSameUser(client, account);
    },
  },
  {
    id: 'user-details.iv',
    section,
    title: 'user_details accepts the X-AUTH-IV of the sign-in.',
    needs: 'user',
    run: async (client: ContractClient): Promise<void> => {
      const iv = { [AUTH_IV_HEADER]: ANY_IV };
      expectRecord(await client.userDetails(await client.openSession(iv), iv));
    },
  },
  {
    id: 'user-details.repeated',
    section,
    title: 'user_details answers as often as it is asked.',
    needs: 'user',
    run: async (client: ContractClient): Promise<void> => {
      const token = await client.openSession();
      const replies = await Promise.all(Array.from({ length: READS_AT_ONCE }, () => client.userDetails(token)));
      for (const reply of replies) expectStatus(reply, [200]);
    },
  },
];
