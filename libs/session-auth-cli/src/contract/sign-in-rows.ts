import { AUTH_IV_HEADER, AUTH_TOKEN_HEADER } from '../../../session-auth/src/contract/wire.js';
import { randomText } from '../calls/secrets.js';
import type { Account, ServiceClient } from '../calls/service-client.js';
import { Complaint, expectEmpty, expectRecord, expectRefusal, expectToken } from './expectations.js';
import { type ContractRow, rowsOf, SECTIONS } from './row.js';

const row = rowsOf(SECTIONS.signIn);
const rowWithoutUser = rowsOf(SECTIONS.signIn, 'nothing');
const json = JSON.stringify;
const SQL = `' OR '1'='1`;

/** A sample request of the interface writes the trailing slash. */
const SIGN_IN_PATHS = [
  ['sign-in', '/authentication'],
  ['sign-in-slash', '/authentication/'],
] as const;

/** Any IV: its format is not documented. */
export const ANY_IV = { [AUTH_IV_HEADER]: 'bm9uY2UtMTIzNDU2Nzg5MA==' };

/** A text is sent as it is, any other value as JSON. */
type Bodies = readonly (readonly [id: string, what: string, body: (user: Account) => unknown])[];

/** Bodies that hold nothing of a user. */
const BODIES: Bodies = [
  ['malformed.empty', 'an empty body', () => ''],
  ['malformed.absent', 'no body', () => undefined],
  ['malformed.null', 'null for a body', () => null],
  ['malformed.number', 'a number for a body', () => 7],
  ['malformed.string', 'a string for a body', () => json(randomText())],
  ['malformed.empty-array', 'an empty array for a body', () => []],
  ['malformed.empty-object', 'an empty object for a body', () => ({})],
  ['malformed.no-password', 'no password', ({ username }) => ({ username })],
  ['malformed.empty-password', 'an empty password', ({ username }) => ({ username, password: '' })],
  ['malformed.null-password', 'null for a password', ({ username }) => ({ username, password: null })],
  ['credentials.unknown-user', 'an unknown username', (user) => user],
  [
    'credentials.sql',
    'SQL in username and password',
    ({ username, password }) => ({ username: `${username}${SQL}`, password: `${password}${SQL}` }),
  ],
];

/**
 * Bodies from which a service that reads too much could sign the user in. The password is the right one, so
 * that no account is locked.
 */
const BODIES_OF_USER: Bodies = [
  ['malformed.form', 'a body that is not JSON', (user) => new URLSearchParams({ ...user }).toString()],
  ['malformed.cut-off', 'a body that is cut off', (user) => json(user).slice(0, -1)],
  ['malformed.array', 'an array of credentials', (user) => [user]],
  ['malformed.no-username', 'no username', ({ password }) => ({ password })],
  ['malformed.empty-username', 'an empty username', (user) => ({ ...user, username: '' })],
  ['malformed.number-username', 'a number for a username', (user) => ({ ...user, username: 1 })],
  ['malformed.array-password', 'an array for a password', (user) => ({ ...user, password: [user.password] })],
  ['malformed.object-username', 'an object for a username', (user) => ({ ...user, username: { $ne: '' } })],
  ['malformed.prototype', 'fields that only its prototype has', (user) => `{"__proto__":${json(user)}}`],
  [
    'credentials.username-nul',
    'a NUL character behind the username',
    (user) => ({ ...user, username: `${user.username}\0` }),
  ],
  [
    'credentials.username-blank',
    'a blank behind the username',
    (user) => ({ ...user, username: `${user.username} ` }),
  ],
  [
    'credentials.username-sql',
    'SQL in the username',
    (user) => ({ ...user, username: `${user.username}${SQL}` }),
  ],
];

const WRONG_PASSWORDS: Bodies = [
  ['nul', 'a NUL character behind the password', (user) => ({ ...user, password: `${user.password}\0` })],
  [
    'surrogate',
    'a lone surrogate behind the password',
    (user) => ({ ...user, password: `${user.password}\ud800` }),
  ],
  ['sql', 'SQL for a password', (user) => ({ ...user, password: SQL })],
  ['absent', 'the name of a user, but no password', ({ username }) => ({ username })],
  ['empty', 'the name of a user, but an empty password', (user) => ({ ...user, password: '' })],
  ['null', 'the name of a user, but null for a password', (user) => ({ ...user, password: null })],
];

const MEDIA_TYPES = [
  ['text', 'text/plain'],
  ['form', 'application/x-www-form-urlencoded'],
  ['jsonish', 'application/jsonish'],
  ['empty', ''],
] as const;

const refused = (what: string): string => `A sign-in with ${what} is refused with an empty body.`;
const rowsWith = (bodies: Bodies, rowOf = row): ContractRow[] =>
  bodies.map(([id, what, body]) =>
    rowOf(id, refused(what), async (client, user) => {
      const value = body(user);
      expectRefusal(await client.post(typeof value === 'string' ? value : json(value)));
    }),
  );

const expectSignIn = (path: string) => async (client: ServiceClient, user: Account) => {
  const record = expectRecord(await client.signIn(user, {}, path));
  expectToken(record);
  if (record.username !== undefined && record.username !== user.username)
    throw new Complaint('The record has another username than the sign-in.');
};

export const SIGN_IN_ROWS: readonly ContractRow[] = [
  ...SIGN_IN_PATHS.flatMap(([name, path]) => [
    row(`${name}.record`, `POST ${path} answers 200 with the user record and a token.`, expectSignIn(path)),
    rowsOf(SECTIONS.signIn, 'second user')(
      `${name}.record-of-others`,
      `POST ${path} answers 200 with the record of another user.`,
      expectSignIn(path),
    ),
    row(`${name}.iv`, `POST ${path} accepts an X-AUTH-IV.`, async (client, user) =>
      expectRecord(await client.signIn(user, ANY_IV, path)),
    ),
  ]),
  row('sign-in.charset', 'A sign-in accepts a JSON media type with a charset.', async (client, user) =>
    expectRecord(await client.signIn(user, { 'Content-Type': 'application/json; charset=utf-8' })),
  ),
  row('sign-in.any-token', 'A sign-in needs no X-AUTH-TOKEN, and does not mind one.', async (client, user) =>
    expectRecord(await client.signIn(user, { [AUTH_TOKEN_HEADER]: randomText() })),
  ),
  rowsOf(SECTIONS.signIn, 'pending user')(
    'sign-in.pending',
    'The sign-in of a pending user answers 202 with an empty body.',
    async (client, user) => expectEmpty(await client.signIn(user), 202),
  ),
  ...rowsWith(BODIES, rowWithoutUser),
  ...rowsWith(BODIES_OF_USER),
  ...MEDIA_TYPES.map(([id, type]) =>
    row(`media-type.${id}`, refused(`the Content-Type "${type}"`), async (client, user) =>
      expectRefusal(await client.signIn(user, { 'Content-Type': type })),
    ),
  ),
  ...[
    ...SIGN_IN_PATHS.map(([name, path]) =>
      row(name, `POST ${path} refuses a wrong password with an empty body.`, async (client, user) =>
        expectRefusal(await client.signIn({ ...user, password: randomText() }, {}, path)),
      ),
    ),
    ...rowsWith(WRONG_PASSWORDS),
  ].map((made) => ({ ...made, id: `wrong-password.${made.id}`, triesWrongPassword: true })),
];
