import { AUTH_TOKEN_HEADER } from '../../../contract/wire.js';
import { randomText } from '../random-text.js';
import { type ContractRow, SECTIONS } from '../row.js';
import { type Operation, TOKEN_OPERATIONS } from './operations.js';

const section = SECTIONS.authentication;
type Headers = Readonly<Record<string, string>>;
const LONG = 4_096;

const BAD_TOKENS: readonly (readonly [id: string, what: string, headers: () => Headers])[] = [
  ['missing', 'without a token', () => ({})],
  ['unknown', 'with an unknown token', () => ({ [AUTH_TOKEN_HEADER]: randomText() })],
  ['empty', 'with an empty token', () => ({ [AUTH_TOKEN_HEADER]: '' })],
  ['blank', 'with a blank token', () => ({ [AUTH_TOKEN_HEADER]: ' ' })],
  ['long', `with a token of ${LONG} characters`, () => ({ [AUTH_TOKEN_HEADER]: 'x'.repeat(LONG) })],
  ['sql', 'with SQL for a token', () => ({ [AUTH_TOKEN_HEADER]: `' OR '1'='1` })],
];

const MISUSED_TOKENS: readonly (readonly [id: string, what: string, headers: (token: string) => readonly Headers[]])[] = [
  [
    'almost',
    'with a token that has a character too many or too few',
    (token) => [{ [AUTH_TOKEN_HEADER]: `${token}x` }, { [AUTH_TOKEN_HEADER]: token.slice(0, -1) }],
  ],
  [
    'elsewhere',
    'with its token in another header than X-AUTH-TOKEN',
    (token) => [{ Authorization: `Bearer ${token}` }, { Cookie: `X-AUTH-TOKEN=${token}; auth_token=${token}` }],
  ],
];

const rowsOf = ({ id: operation, method, path }: Operation): ContractRow[] => [
  ...BAD_TOKENS.map(([id, what, headers]): ContractRow => ({
    id: `token.${operation}.${id}`,
    section,
    title: `${method} ${path} refuses a request ${what}, with an empty body.`,
    needs: 'nothing',
    run: async (client) => client.expectRefusal(await client.call({ method, path, headers: headers() })),
  })),
  ...MISUSED_TOKENS.map(([id, what, headersOf]): ContractRow => ({
    id: `token.${operation}.${id}`,
    section,
    title: `${method} ${path} refuses a request ${what}, with an empty body.`,
    needs: 'user',
    run: async (client) => {
      const token = await client.openSession();
      for (const headers of headersOf(token)) client.expectRefusal(await client.call({ method, path, headers }));
    },
  })),
];

/** The token of a session. */
export const tokenRows: readonly ContractRow[] = TOKEN_OPERATIONS.flatMap(rowsOf);
