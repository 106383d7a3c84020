import type { Account } from '../contract-client.js';
import { randomText } from '../random-text.js';
import { type ContractRow, SECTIONS } from '../row.js';

const section = SECTIONS.signIn;

/** Bodies that hold nothing of a user. */
const BODIES: readonly (readonly [id: string, what: string, body: () => string | undefined])[] = [
  ['empty', 'an empty body', () => ''],
  ['absent', 'no body', () => undefined],
  ['null', 'null for a body', () => 'null'],
  ['number', 'a number for a body', () => '7'],
  ['string', 'a string for a body', () => JSON.stringify(randomText())],
  ['empty-array', 'an empty array for a body', () => '[]'],
  ['empty-object', 'an empty object for a body', () => '{}'],
  ['no-password', 'no password', () => JSON.stringify({ username: randomText() })],
  ['empty-password', 'an empty password', () => JSON.stringify({ username: randomText(), password: '' })],
  ['null-password', 'null for a password', () => JSON.stringify({ username: randomText(), password: null })],
];

/** Bodies from which a service that reads too much could sign the user in. The password is the right one, so that no account is locked. */
const BODIES_OF_USER: readonly (readonly [id: string, what: string, body: (user: Account) => string])[] = [
  ['form', 'a body that is not JSON', (user) => new URLSearchParams({ ...user }).toString()],
  ['cut-off', 'a body that is cut off', (user) => JSON.stringify(user).slice(0, -1)],
  ['array', 'an array of credentials', (user) => JSON.stringify([user])],
  ['no-username', 'no username', ({ password }) => JSON.stringify({ password })],
  ['empty-username', 'an empty username', ({ password }) => JSON.stringify({ username: '', password })],
  ['number-username', 'a number for a username', ({ password }) => JSON.stringify({ username: 1, password })],
  ['array-password', 'an array for a password', ({ username, password }) => JSON.stringify({ username, password: [password] })],
  ['object-username', 'an object for a username', ({ password }) => JSON.stringify({ username: { $ne: '' }, password })],
  ['prototype', 'fields that only its prototype has', (user) => `{"__proto__":${JSON.stringify(user)}}`],
];

const MEDIA_TYPES = [
  ['text', 'text/plain'],
  ['form', 'application/x-www-form-urlencoded'],
  ['jsonish', 'application/jsonish'],
  ['empty', ''],
] as const;

/** Sign-ins that are refused because of their form. */
export const malformedSignInRows: readonly ContractRow[] = [
  ...BODIES.map(([id, what, body]): ContractRow => ({
    id: `malformed.${id}`,
    section,
    title: `A sign-in with ${what} is refused with an empty body.`,
    needs: 'nothing',
    run: async (client) => client.expectRefusal(await client.post(body())),
  })),
  ...BODIES_OF_USER.map(([id, what, body]): ContractRow => ({
    id: `malformed.${id}`,
    section,
    title: `A sign-in with ${what} is refused with an empty body.`,
    needs: 'user',
    run: async (client) => client.expectRefusal(await client.post(body(client.user))),
  })),
  ...MEDIA_TYPES.map(([id, type]): ContractRow => ({
    id: `media-type.${id}`,
    section,
    title: `A sign-in with the Content-Type "${type}" is refused with an empty body.`,
    needs: 'user',
    run: async (client) => client.expectRefusal(await client.signIn(client.user, { 'Content-Type': type })),
  })),
];
