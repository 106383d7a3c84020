import { API_KEY_HEADER, AUTH_TOKEN_HEADER } from '../../../contract/wire.js';
import { expectStatus } from '../expectations.js';
import { randomText } from '../random-text.js';
import { type ContractRow, SECTIONS } from '../row.js';
import { grantedRequest, type Operation, OPERATIONS } from './operations.js';

const section = SECTIONS.authentication;
type KeyHeaders = (apiKey: string) => readonly Readonly<Record<string, string>>[];

const BAD_KEYS: readonly (readonly [id: string, what: string, headers: KeyHeaders])[] = [
  ['missing', 'without an application key', () => [{}]],
  ['unknown', 'with an unknown application key', () => [{ [API_KEY_HEADER]: randomText() }]],
  ['empty', 'with an empty application key', () => [{ [API_KEY_HEADER]: '' }]],
  ['blank', 'with a blank application key', () => [{ [API_KEY_HEADER]: '  ' }]],
  [
    'almost',
    'with an application key that has a character too many or too few',
    (apiKey) => [{ [API_KEY_HEADER]: `${apiKey}x` }, { [API_KEY_HEADER]: apiKey.slice(0, -1) }],
  ],
  [
    'elsewhere',
    'with the application key in another header than X-API-KEY',
    (apiKey) => [{ Authorization: `Bearer ${apiKey}` }, { X_API_KEY: apiKey }],
  ],
];

const badKeyRows = (operation: Operation): ContractRow[] =>
  BAD_KEYS.map(([id, what, headersOf]) => ({
    id: `key.${operation.id}.${id}`,
    section,
    title: `${operation.method} ${operation.path} refuses a request ${what}, with an empty body.`,
    needs: 'user',
    run: async (client) => {
      const request = await grantedRequest(operation, client);
      for (const headers of headersOf(client.apiKey)) {
        client.expectRefusal(await client.send({ ...request, headers: { ...request.headers, ...headers } }));
      }
    },
  }));

const anyCaseRow = (operation: Operation): ContractRow => ({
  id: `key.${operation.id}.any-case`,
  section,
  title: `${operation.method} ${operation.path} finds the application key in any case of the header name.`,
  needs: 'user',
  run: async (client) => {
    const request = await grantedRequest(operation, client);
    expectStatus(await client.send({ ...request, headers: { ...request.headers, 'x-api-KEY': client.apiKey } }), [200]);
  },
});

/** Proves less than the rows with a user: the request would be refused with the right key, too. */
const anonymousRow = ({ id, method, path }: Operation): ContractRow => ({
  id: `key.${id}.anonymous`,
  section,
  title: `${method} ${path} refuses a request of no user without a key, and with an unknown one, with an empty body.`,
  needs: 'nothing',
  run: async (client) => {
    for (const headers of [{}, { [API_KEY_HEADER]: randomText() }]) {
      const body = JSON.stringify({ username: randomText(), password: randomText() });
      const request =
        method === 'POST'
          ? { headers: { 'Content-Type': 'application/json', ...headers }, body }
          : { headers: { [AUTH_TOKEN_HEADER]: randomText(), ...headers } };
      client.expectRefusal(await client.send({ method, path, ...request }));
    }
  },
});

/** The application key. */
export const applicationKeyRows: readonly ContractRow[] = OPERATIONS.flatMap((operation) => [
  anonymousRow(operation),
  ...badKeyRows(operation),
  anyCaseRow(operation),
]);
