import { Agent } from 'node:http';
import type { Type } from '@nestjs/common';
import type { AxiosProxyConfig } from 'axios';
import type { ApiKey } from '../../client/session-client.js';
import type { TokenEcho } from '../../client/user-details-verdict.js';
import {
  UserRecord,
  type UserRecordClass,
  type UserRecordSchema,
} from '../../contract/record/user-record.js';
import { SessionStore } from '../../contract/session-store.js';
import {
  REFUSAL_OUTCOMES,
  SIGN_IN_OUTCOMES,
  type SignInMeaning,
  type StatusMap,
  type StatusMeaning,
} from '../../contract/status-outcomes.js';
import { isHeaderValue, MAX_API_KEY_LENGTH } from '../../contract/wire.js';
import { isClass } from '../../guard/is-class.js';
import type { Audit } from '../options/options.js';
import type { SessionAuthPlugin } from '../options/plugins.js';
import type { LoadUser, UserLoader } from '../../guard/current-user.decorator.js';
import { invalidOption } from '../../contract/errors.js';
import {
  bool,
  group,
  int,
  isGroup,
  oneOf,
  only,
  optional,
  rejectUnknownOptions,
  unlessFalse,
} from './option-readers.js';

/** Longest time of any call. */
export const MAX_DURATION_MS = 300_000;
export const MAX_TTL_MS = 300_000;
const DAY_MS = 86_400_000;

const RETRY = group({ maxAttempts: int(1, 10, 2) });

const BREAKER = group({
  windowMs: int(10, MAX_DURATION_MS, 10_000),
  minimumCalls: int(1, 1_000_000, 20),
  failureRatio: only(
    0.5,
    (value) => typeof value === 'number' && value > 0 && value <= 1,
    'must be a number above 0 and up to 1',
    'Set it within that range, or leave it out for 0.5',
  ),
  pauseMs: int(1, 120_000, 1_000),
  maxPauseMs: int(({ pauseMs }: { readonly pauseMs: number }) => pauseMs, 120_000, 30_000),
});

const WHILE_OPEN = group({ recheckMs: int(1, DAY_MS, 60_000), outageGraceMs: int(0, DAY_MS, 300_000) });

const TTL_MS = int(1, MAX_TTL_MS);

function readTtl(value: unknown, name: string): number {
  if (value !== undefined) return TTL_MS.read(value, name);
  const remedy = 'Set how many milliseconds a session that ended elsewhere may still work here';
  return invalidOption(name, 'is missing', remedy);
}

const CACHE = group({
  ttlMs: { read: readTtl },
  negativeTtlMs: int(0, MAX_TTL_MS, 5_000),
  maxEntries: int(1, 10_000_000, 10_000),
  refreshAheadMs: int(0, ({ ttlMs }: { readonly ttlMs: number }) => ttlMs - 1, 0),
  staleIfErrorMs: int(0, DAY_MS, 0),
  store: only<SessionStore | undefined>(
    undefined,
    (value) => SessionStore.isOne(value),
    'must be a SessionStore',
    "Give it new RedisSessionStore({ redis }) of 'nestjs-session-auth/redis'",
  ),
});

export const STORE = { timeoutMs: int(1, 1_000, 50) };

const MEANINGS: readonly StatusMeaning[] = ['unauthenticated', 'forbidden', 'unavailable'];

const SIGN_IN_MEANINGS: readonly SignInMeaning[] = ['rejected', 'invalid', 'denied', 'limited'];
const SIGN_IN = group(
  Object.fromEntries(
    Object.entries(SIGN_IN_OUTCOMES).map(([status, outcome]) => [status, oneOf(SIGN_IN_MEANINGS, outcome)]),
  ),
);

const STATUS_MAP = group({
  400: oneOf(MEANINGS, REFUSAL_OUTCOMES[400]),
  401: oneOf(MEANINGS, REFUSAL_OUTCOMES[401]),
  403: oneOf(MEANINGS, REFUSAL_OUTCOMES[403]),
  404: oneOf(MEANINGS, REFUSAL_OUTCOMES[404]),
  signIn: optional(undefined, SIGN_IN.read),
});

const HTTP = group({
  httpAgent: optional(undefined, readAgent),
  httpsAgent: optional(undefined, readAgent),
  proxy: optional(undefined, readProxy),
  maxResponseBytes: int(1, 16_777_216, 65_536),
  maxTokenLength: int(1, 65_536, 4_096),
});

/** The options of a registration, but for `token`, whose functions need Nest. */
export const OPTIONS = {
  baseUrl: { read: readBaseUrl },
  apiKey: { read: readApiKey },
  forwardAuthIv: bool(true),
  timeoutMs: int(1, MAX_DURATION_MS, 3_000),
  signInTimeoutMs: int(1, MAX_DURATION_MS, 10_000),
  signOutTimeoutMs: int(1, MAX_DURATION_MS, 5_000),
  retry: unlessFalse(RETRY, { maxAttempts: 1 }),
  breaker: unlessFalse(BREAKER, undefined),
  maxInFlight: int(1, 10_000, 128),
  maxQueued: int(0, 100_000, 1_024),
  maxSignIns: int(1, 10_000, 32),
  cache: optional(undefined, readCache),
  statusMap: optional<StatusMap>({}, readStatusMap),
  // The reader of the records checks it, and loads what reads it.
  userRecord: optional<UserRecordClass | UserRecordSchema>(UserRecord, (value) => value as UserRecordClass),
  // The reader of the records knows the fields, and checks the names.
  identityFields: only<readonly (keyof UserRecord)[]>(
    ['username', 'email'],
    (names) => Array.isArray(names) && names.length > 0 && names.every(isName),
    'must be a list of at least one field name',
    "Name fields of the user record, for example ['username']",
  ),
  loadUser: only<LoadUser | Type<UserLoader> | undefined>(
    undefined,
    (value) => typeof value === 'function',
    'must be a function or a class',
    'Give it (record, context) => user, or a class with load(record, context)',
  ),
  reportOnly: bool(false),
  tokenEcho: oneOf<TokenEcho>(['ignore', 'warn', 'deny'], 'deny'),
  audit: oneOf<Audit>(['off', 'warn', 'error'], 'warn'),
  http: optional(HTTP.fallback, HTTP.read),
  whileOpen: optional(WHILE_OPEN.fallback, WHILE_OPEN.read),
};

/** The extras, which are set beside the options. */
export const EXTRAS = group({
  isGlobal: bool(true),
  protectAllRoutes: bool(false),
  plugins: only<readonly SessionAuthPlugin[]>(
    [],
    (value) => Array.isArray(value) && value.every(isPlugin),
    'must be a list of plugins',
    'Name values that entries of nestjs-session-auth export for it',
  ),
});

/** The default of each option. `tools/check-defaults.mjs` compares the TSDoc and the guides with it. */
export const DEFAULTS = {
  ...EXTRAS.fallback,
  ...group(OPTIONS).fallback,
  cache: CACHE.fallback,
  store: group(STORE).fallback,
};

function isPlugin(candidate: unknown): candidate is SessionAuthPlugin {
  return typeof (candidate as Partial<SessionAuthPlugin> | null | undefined)?.open === 'function';
}

function readCache(value: unknown, name: string): ReturnType<typeof CACHE.read> | undefined {
  if (value === false) return undefined;
  if (isGroup(value)) return CACHE.read(value, name);
  const remedy = 'Write cache: { ttlMs: 30_000 } to cache sessions for 30 seconds';
  return invalidOption(name, 'must be an object with ttlMs, or false', remedy);
}

/** The statuses that are not mapped stay absent: their outcome depends on the body too. */
function readStatusMap(value: unknown, name: string): StatusMap {
  STATUS_MAP.read(value, name);
  const { signIn, ...statuses } = value as StatusMap;
  return { ...statuses, ...(signIn && { signIn: { ...signIn } }) };
}

function readApiKey(apiKey: unknown, name: string): ApiKey {
  if (typeof apiKey === 'function' && !isClass(apiKey)) return apiKey as ApiKey;
  if (isHeaderValue(apiKey, MAX_API_KEY_LENGTH)) return apiKey;
  return invalidOption(
    name,
    apiKey === undefined || apiKey === '' ? 'is missing' : 'is not a key that can be sent',
    `Give it the application key: 1 to ${MAX_API_KEY_LENGTH} visible ASCII characters, or a function`,
  );
}

function isName(field: unknown): boolean {
  return typeof field === 'string' && field !== '';
}

function readAgent(agent: unknown, name: string): Agent {
  if (!(agent instanceof Agent))
    return invalidOption(name, 'must be an agent of node:http or node:https', 'Give it one, or leave it out');
  const [other, otherName] =
    name === 'http.httpAgent' ? ['https', 'http.httpsAgent'] : ['http', 'http.httpAgent'];
  // Node.js throws at each call for another protocol. Agents of proxies have no own one, and serve both.
  if (Object.getOwnPropertyDescriptor(agent, 'protocol')?.value === `${other}:`)
    invalidOption(name, `is an agent for ${other}`, `Set it as ${otherName}`);
  return agent;
}

/** A host with a scheme, a path or a user in it would become another address. */
const HOST = /^[^\s/?#@\\]+$/;

function readProxy(proxy: unknown, name: string, others: object = {}): AxiosProxyConfig {
  const { httpAgent, httpsAgent } = others as { readonly httpAgent?: Agent; readonly httpsAgent?: Agent };
  if (httpAgent ?? httpsAgent) invalidOption(name, 'cannot go with an agent', 'Set one of the two');
  rejectUnknownOptions(name, proxy, ['protocol', 'host', 'port', 'auth']);
  const { protocol = 'http', host, port, auth } = proxy;
  if (!isAddress(protocol, host, port))
    invalidOption(name, 'must have a host and a port', "Give it { host: 'proxy.example.com', port: 3128 }");
  const remedy = 'Give it { username, password }, or leave it out';
  if (auth !== undefined && !isCredentials(auth))
    invalidOption(`${name}.auth`, 'must have a username and a password', remedy);
  return proxy as unknown as AxiosProxyConfig;
}

function isAddress(protocol: unknown, host: unknown, port: unknown): boolean {
  if (typeof protocol !== 'string' || typeof host !== 'string' || !Number.isInteger(port)) return false;
  const url = `http://${host}:${String(port)}`;
  return /^https?:?$/.test(protocol) && HOST.test(host) && port !== 0 && URL.canParse(url);
}

function isCredentials(auth: unknown): boolean {
  const { username, password } = (isGroup(auth) ? auth : {}) as Readonly<Record<string, unknown>>;
  return typeof username === 'string' && typeof password === 'string';
}

/** Returns the root of the session service without trailing slashes: paths of the interface are appended. */
function readBaseUrl(value: unknown, name: string): string {
  const reject = (problem: string): never =>
    invalidOption(
      name,
      problem,
      'Give it the root of the session service, for example https://sessions.example.com/api',
    );
  if (value === undefined || value === '') return reject('is missing');
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== 'string' || text !== text.trim() || !URL.canParse(text))
    return reject('is not an absolute URL');
  const { href, protocol, username, password, pathname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return reject('must start with http:// or https://');
  if (username !== '' || password !== '') return reject('must not hold a user or a password');
  if (/[?#]/.test(href)) return reject('must not have a query or a fragment');
  if (/\/authentication\/*$/.test(pathname)) return reject('must not end in /authentication');
  return href.replace(/\/+$/, '');
}
