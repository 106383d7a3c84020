import { AUTH_IV_HEADER, AUTH_TOKEN_HEADER } from '../../../session-auth/src/contract/wire.js';
import type { Account } from '../calls/service-client.js';
import type { ContractClient } from './contract-client.js';
import { Complaint, expectEmpty, expectRecord, expectToken } from './expectations.js';
import { randomText } from '../calls/secrets.js';
import { type ContractRow, rowsOf, SECTIONS } from './row.js';

const row = rowsOf(SECTIONS.signIn);
const json = JSON.stringify;
const SQL = `' OR '1'='1`;

/**
 * The paths of the sign-in, by the name that rows have for them. A sample request writes the trailing slash.
 */
const SIGN_IN_PATHS = [
  ['sign-in', '/authentication'],
  ['sign-in-slash', '/authentication/'],
] as const;

/** Any IV: its format is not documented. */
export const ANY_IV = { [AUTH_IV_HEADER]: 'bm9uY2UtMTIzNDU2Nzg5MA==' };

/** Bodies that hold nothing of a user. */
const BODIES: readonly (readonly [id: string, what: string, body: () => string | undefined])[] = [
  ['empty', 'an empty body', () => ''],
  ['absent', 'no body', () => undefined],
  ['null', 'null for a body', () => 'null'],
  ['number', 'a number for a body', () => '7'],
  ['string', 'a string for a body', () => json(randomText())],
  ['empty-array', 'an empty array for a body', () => '[]'],
  ['empty-object', 'an empty object for a body', () => '{}'],
  ['no-password', 'no password', () => json({ username: randomText() })],
  ['empty-password', 'an empty password', () => json({ username: randomText(), password: '' })],
  ['null-password', 'null for a password', () => json({ username: randomText(), password: null })],
];

/**
 * Bodies from which a service that reads too much could sign the user in. The password is the right one, so
 * that no account is locked.
 */
const BODIES_OF_USER: readonly (readonly [id: string, what: string, body: (user: Account) => string])[] = [
  ['form', 'a body that is not JSON', (user) => new URLSearchParams({ ...user }).toString()],
  ['cut-off', 'a body that is cut off', (user) => json(user).slice(0, -1)],
  ['array', 'an array of credentials', (user) => json([user])],
  ['no-username', 'no username', ({ password }) => json({ password })],
  ['empty-username', 'an empty username', ({ password }) => json({ username: '', password })],
  ['number-username', 'a number for a username', ({ password }) => json({ username: 1, password })],
  [
    'array-password',
    'an array for a password',
    ({ username, password }) => json({ username, password: [password] }),
  ],
  [
    'object-username',
    'an object for a username',
    ({ password }) => json({ username: { $ne: '' }, password }),
  ],
  ['prototype', 'fields that only its prototype has', (user) => `{"__proto__":${json(user)}}`],
];

const MEDIA_TYPES = [
  ['text', 'text/plain'],
  ['form', 'application/x-www-form-urlencoded'],
  ['jsonish', 'application/jsonish'],
  ['empty', ''],
] as const;

const UNKNOWN_USERS: readonly (readonly [id: string, what: string, account: () => Account])[] = [
  ['unknown-user', 'an unknown username', () => ({ username: randomText(), password: randomText() })],
  [
    'sql',
    'SQL in username and password',
    () => ({ username: `${randomText()}${SQL}`, password: `${randomText()}${SQL}` }),
  ],
];

/** Other names than that of the user, with the right password. */
const OTHER_NAMES = [
  ['username-nul', 'a NUL character behind the username', '\0'],
  ['username-blank', 'a blank behind the username', ' '],
  ['username-sql', 'SQL in the username', SQL],
] as const;

const WRONG_PASSWORDS: readonly (readonly [id: string, what: string, body: (user: Account) => object])[] = [
  [
    'nul',
    'a NUL character behind the password',
    ({ username, password }) => ({ username, password: `${password}\0` }),
  ],
  [
    'surrogate',
    'a lone surrogate behind the password',
    ({ username, password }) => ({ username, password: `${password}\ud800` }),
  ],
  ['sql', 'SQL for a password', ({ username }) => ({ username, password: SQL })],
  ['absent', 'the name of a user, but no password', ({ username }) => ({ username })],
  ['empty', 'the name of a user, but an empty password', ({ username }) => ({ username, password: '' })],
  ['null', 'the name of a user, but null for a password', ({ username }) => ({ username, password: null })],
];

const refused = (what: string): string => `A sign-in with ${what} is refused with an empty body.`;
const locking = (made: ContractRow): ContractRow => ({ ...made, triesWrongPassword: true });

async function expectSignIn(client: ContractClient, account: Account, path?: string): Promise<void> {
  const record = expectRecord(await client.signIn(account, {}, path));
  expectToken(record);
  if (record.username !== undefined && record.username !== account.username)
    throw new Complaint('The record has another username than the sign-in.');
}

/** Sign-ins: granted, of a wrong form, and with wrong credentials. */
export const SIGN_IN_ROWS: readonly ContractRow[] = [
  ...SIGN_IN_PATHS.flatMap(([name, path]) => [
    row(`${name}.record`, `POST ${path} answers 200 with the user record and a token.`, 'user', (client) =>
      expectSignIn(client, client.user, path),
    ),
    row(
      `${name}.record-of-others`,
      `POST ${path} answers 200 with the record of another user.`,
      'second user',
      (client) => expectSignIn(client, client.accountOf('second user'), path),
    ),
    row(`${name}.iv`, `POST ${path} accepts an X-AUTH-IV.`, 'user', async (client) =>
      expectRecord(await client.signIn(client.user, ANY_IV, path)),
    ),
  ]),
  row('sign-in.charset', 'A sign-in accepts a JSON media type with a charset.', 'user', async (client) =>
    expectRecord(await client.signIn(client.user, { 'Content-Type': 'application/json; charset=utf-8' })),
  ),
  row(
    'sign-in.any-token',
    'A sign-in needs no X-AUTH-TOKEN, and does not mind one.',
    'user',
    async (client) => expectRecord(await client.signIn(client.user, { [AUTH_TOKEN_HEADER]: randomText() })),
  ),
  row(
    'sign-in.pending',
    'The sign-in of a pending user answers 202 with an empty body.',
    'pending user',
    async (client) => expectEmpty(await client.signIn(client.accountOf('pending user')), 202),
  ),
  ...BODIES.map(([id, what, body]) =>
    row(`malformed.${id}`, refused(what), 'nothing', async (client) =>
      client.expectRefusal(await client.post(body())),
    ),
  ),
  ...BODIES_OF_USER.map(([id, what, body]) =>
    row(`malformed.${id}`, refused(what), 'user', async (client) =>
      client.expectRefusal(await client.post(body(client.user))),
    ),
  ),
  ...MEDIA_TYPES.map(([id, type]) =>
    row(`media-type.${id}`, refused(`the Content-Type "${type}"`), 'user', async (client) =>
      client.expectRefusal(await client.signIn(client.user, { 'Content-Type': type })),
    ),
  ),
  ...UNKNOWN_USERS.map(([id, what, account]) =>
    row(`credentials.${id}`, refused(what), 'nothing', async (client) =>
      client.expectRefusal(await client.signIn(account())),
    ),
  ),
  ...OTHER_NAMES.map(([id, what, ending]) =>
    row(`credentials.${id}`, refused(what), 'user', async (client) => {
      const { username, password } = client.user;
      client.expectRefusal(await client.signIn({ username: `${username}${ending}`, password }));
    }),
  ),
  ...SIGN_IN_PATHS.map(([name, path]) =>
    row(
      `wrong-password.${name}`,
      `POST ${path} refuses a wrong password with an empty body.`,
      'user',
      async (client) =>
        client.expectRefusal(await client.signIn({ ...client.user, password: randomText() }, {}, path)),
    ),
  ).map(locking),
  ...WRONG_PASSWORDS.map(([id, what, body]) =>
    row(`wrong-password.${id}`, refused(what), 'user', async (client) =>
      client.expectRefusal(await client.post(json(body(client.user)))),
    ),
  ).map(locking),
];
