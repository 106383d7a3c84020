import type { Account } from '../contract-client.js';
import { randomText } from '../random-text.js';
import { type ContractRow, SECTIONS } from '../row.js';
import { SIGN_IN_PATHS } from './sign-in.js';

const section = SECTIONS.signIn;
const SQL = `' OR '1'='1`;

const UNKNOWN_USERS: readonly (readonly [id: string, what: string, account: () => Account])[] = [
  ['unknown-user', 'an unknown username', () => ({ username: randomText(), password: randomText() })],
  ['sql', 'SQL in username and password', () => ({ username: `${randomText()}${SQL}`, password: `${randomText()}${SQL}` })],
];

/** Other names than that of the user, with the right password. */
const OTHER_NAMES = [
  ['username-nul', 'a NUL character behind the username', '\0'],
  ['username-blank', 'a blank behind the username', ' '],
  ['username-sql', 'SQL in the username', SQL],
] as const;

const WRONG_PASSWORDS: readonly (readonly [id: string, what: string, body: (user: Account) => object])[] = [
  ['nul', 'a NUL character behind the password', ({ username, password }) => ({ username, password: `${password}\0` })],
  ['surrogate', 'a lone surrogate behind the password', ({ username, password }) => ({ username, password: `${password}\ud800` })],
  ['sql', 'SQL for a password', ({ username }) => ({ username, password: SQL })],
  ['absent', 'the name of a user, but no password', ({ username }) => ({ username })],
  ['empty', 'the name of a user, but an empty password', ({ username }) => ({ username, password: '' })],
  ['null', 'the name of a user, but null for a password', ({ username }) => ({ username, password: null })],
];

const refused = (what: string): string => `A sign-in with ${what} is refused with an empty body.`;

/** Sign-ins that are refused because of their credentials. */
export const wrongCredentialsRows: readonly ContractRow[] = [
  ...UNKNOWN_USERS.map(([id, what, account]): ContractRow => ({
    id: `credentials.${id}`,
    section,
    title: refused(what),
    needs: 'nothing',
    run: async (client) => client.expectRefusal(await client.signIn(account())),
  })),
  ...OTHER_NAMES.map(([id, what, ending]): ContractRow => ({
    id: `credentials.${id}`,
    section,
    title: refused(what),
    needs: 'user',
    run: async (client) => {
      const { username, password } = client.user;
      client.expectRefusal(await client.signIn({ username: `${username}${ending}`, password }));
    },
  })),
  ...SIGN_IN_PATHS.map(([name, path]): ContractRow => ({
    id: `wrong-password.${name}`,
    section,
    title: `POST ${path} refuses a wrong password with an empty body.`,
    needs: 'user',
    triesWrongPassword: true,
    run: async (client) => client.expectRefusal(await client.signIn({ ...client.user, password: randomText() }, {}, path)),
  })),
  ...WRONG_PASSWORDS.map(([id, what, body]): ContractRow => ({
    id: `wrong-password.${id}`,
    section,
    title: refused(what),
    needs: 'user',
    triesWrongPassword: true,
    run: async (client) => client.expectRefusal(await client.post(JSON.stringify(body(client.user)))),
  })),
];
