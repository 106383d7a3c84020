import {
  API_KEY_HEADER,
  AUTH_TOKEN_HEADER,
  AUTHENTICATION_PATH,
  USER_DETAILS_PATH,
} from '../../../session-auth/src/contract/wire.js';
import { randomText } from '../calls/secrets.js';
import {
  type Account,
  type Headers,
  JSON_TYPE,
  type ServiceClient,
  type ServiceRequest,
} from '../calls/service-client.js';
import { expectRefusal, expectStatus, openSession } from './expectations.js';
import { type ContractRow, rowsOf, SECTIONS } from './row.js';

const row = rowsOf(SECTIONS.authentication);
const rowWithoutUser = rowsOf(SECTIONS.authentication, 'nothing');
const LONG = 4_096;

type Operation = readonly [name: string, method: ServiceRequest['method'], path: string];

const TOKEN_OPERATIONS: readonly Operation[] = [
  ['sign-out', 'DELETE', AUTHENTICATION_PATH],
  ['user-details', 'GET', USER_DETAILS_PATH],
];
const OPERATIONS: readonly Operation[] = [['sign-in', 'POST', AUTHENTICATION_PATH], ...TOKEN_OPERATIONS];

/** Headers that must be refused, for the right value: each is a request of its own. */
type BadHeaders = readonly (readonly [
  id: string,
  what: string,
  headers: (right: string) => readonly Headers[],
])[];

const BAD_KEYS: BadHeaders = [
  ...unusable(API_KEY_HEADER, 'an', 'application key'),
  almost(API_KEY_HEADER, 'an application key'),
  [
    'elsewhere',
    'with the application key in another header than X-API-KEY',
    (key) => [{ Authorization: `Bearer ${key}` }, { X_API_KEY: key }],
  ],
];

const BAD_TOKENS: BadHeaders = [
  ...unusable(AUTH_TOKEN_HEADER, 'a', 'token'),
  ['long', `with a token of ${LONG} characters`, () => [{ [AUTH_TOKEN_HEADER]: 'x'.repeat(LONG) }]],
  ['sql', 'with SQL for a token', () => [{ [AUTH_TOKEN_HEADER]: `' OR '1'='1` }]],
];

/** Made of the token of a session. */
const MISUSED_TOKENS: BadHeaders = [
  almost(AUTH_TOKEN_HEADER, 'a token'),
  [
    'elsewhere',
    'with its token in another header than X-AUTH-TOKEN',
    (token) => [
      { Authorization: `Bearer ${token}` },
      { Cookie: `X-AUTH-TOKEN=${token}; auth_token=${token}` },
    ],
  ],
];

function unusable(header: string, article: string, name: string): BadHeaders {
  return [
    ['missing', `without ${article} ${name}`, () => [{}]],
    ['unknown', `with an unknown ${name}`, () => [{ [header]: randomText() }]],
    ['empty', `with an empty ${name}`, () => [{ [header]: '' }]],
    ['blank', `with a blank ${name}`, () => [{ [header]: ' ' }]],
  ];
}

function almost(header: string, name: string): BadHeaders[number] {
  return [
    'almost',
    `with ${name} that has a character too many or too few`,
    (right) => [{ [header]: `${right}x` }, { [header]: right.slice(0, -1) }],
  ];
}

function requestOf([, method, path]: Operation, user: Account, token: string): ServiceRequest {
  return method === 'POST'
    ? { method, path, headers: JSON_TYPE, body: JSON.stringify(user) }
    : { method, path, headers: { [AUTH_TOKEN_HEADER]: token } };
}

/** A request that lacks only an application key. */
async function grantedRequest(
  operation: Operation,
  client: ServiceClient,
  user: Account,
): Promise<ServiceRequest> {
  return requestOf(operation, user, operation[1] === 'POST' ? '' : await openSession(client, user));
}

async function expectRefusals(
  client: ServiceClient,
  request: ServiceRequest,
  bad: readonly Headers[],
): Promise<void> {
  for (const headers of bad)
    expectRefusal(await client.send({ ...request, headers: { ...request.headers, ...headers } }));
}

function keyRows(operation: Operation): ContractRow[] {
  const [name, method, path] = operation;
  const refuses = `${method} ${path} refuses a request`;
  return [
    rowWithoutUser(
      `key.${name}.anonymous`,
      `${refuses} of no user without a key, and with an unknown one, with an empty body.`,
      (client, user) =>
        expectRefusals(client, requestOf(operation, user, randomText()), [
          {},
          { [API_KEY_HEADER]: randomText() },
        ]),
    ),
    ...BAD_KEYS.map(([id, what, headersOf]) =>
      row(`key.${name}.${id}`, `${refuses} ${what}, with an empty body.`, async (client, user) => {
        const request = await grantedRequest(operation, client, user);
        await expectRefusals(client, request, headersOf(client.settings.apiKey));
      }),
    ),
    row(
      `key.${name}.any-case`,
      `${method} ${path} finds the application key in any case of the header name.`,
      async (client, user) => {
        const { headers, ...request } = await grantedRequest(operation, client, user);
        const sent = { ...headers, 'x-api-KEY': client.settings.apiKey };
        expectStatus(await client.send({ ...request, headers: sent }), 200);
      },
    ),
  ];
}

function tokenRows([name, method, path]: Operation): ContractRow[] {
  const rows = (
    bad: BadHeaders,
    rowOf: typeof row,
    tokenOf: (client: ServiceClient, user: Account) => string | Promise<string>,
  ): ContractRow[] =>
    bad.map(([id, what, headersOf]) =>
      rowOf(
        `token.${name}.${id}`,
        `${method} ${path} refuses a request ${what}, with an empty body.`,
        async (client, user) => {
          const headers = { [API_KEY_HEADER]: client.settings.apiKey };
          await expectRefusals(client, { method, path, headers }, headersOf(await tokenOf(client, user)));
        },
      ),
    );
  return [...rows(BAD_TOKENS, rowWithoutUser, () => ''), ...rows(MISUSED_TOKENS, row, openSession)];
}

export const HEADER_ROWS: readonly ContractRow[] = [
  ...OPERATIONS.flatMap(keyRows),
  ...TOKEN_OPERATIONS.flatMap(tokenRows),
];
