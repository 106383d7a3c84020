import { AUTH_IV_HEADER } from '../../../contract/wire.js';
import type { ContractClient } from '../contract-client.js';
import { expectEmpty } from '../expectations.js';
import { type ContractRow, SECTIONS } from '../row.js';
import { ANY_IV } from './sign-in.js';

const section = SECTIONS.signOut;

/** The end of a session. */
export const signOutRows: readonly ContractRow[] = [
  {
    id: 'sign-out.ends-session',
    section,
    title: 'A sign-out answers 200 with an empty body, and the token is refused from then on.',
    needs: 'user',
    run: async (client: ContractClient): Promise<void> => {
      const token = await client.openSession();
      expectEmpty(await client.signOut(token), 200);
      client.expectRefusal(await client.userDetails(token));
    },
  },
  {
    id: 'sign-out.iv',
    section,
    title: 'A sign-out accepts the X-AUTH-IV of the sign-in.',
    needs: 'user',
    run: async (client: ContractClient): Promise<void> => {
      const iv = { [AUTH_IV_HEADER]: ANY_IV };
      expectEmpty(await client.signOut(await client.openSession(iv), iv), 200);
    },
  },
];
