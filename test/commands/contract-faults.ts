import {
  ANN,
  API_KEY,
  type ContractService,
  type Fault,
  json,
  type ServedCall,
  type ServedReply,
} from './contract-service.js';

/** A service with a fault, and the rows that must fail. */
export interface FaultRow {
  readonly name: string;
  readonly fault: Fault;
  readonly fails: readonly string[];
}

const isRead = ({ method }: ServedCall): boolean => method === 'GET';
const isSignIn = ({ method }: ServedCall): boolean => method === 'POST';
const isSignOut = ({ method }: ServedCall): boolean => method === 'DELETE';

const withHeaders = (call: ServedCall, headers: ServedCall['headers']): ServedCall => ({
  ...call,
  headers: { ...call.headers, ...headers },
});

const replyTo = (
  which: (call: ServedCall, usual: ServedReply) => boolean,
  reply: (usual: ServedReply, call: ServedCall, service: ContractService) => ServedReply,
): Fault => ({
  reply: (usual, call, service) => (which(call, usual) ? reply(usual, call, service) : usual),
});

const granted =
  (which: (call: ServedCall) => boolean) =>
  (call: ServedCall, { status }: ServedReply): boolean =>
    which(call) && status === 200;

/** Changes the fields of every record. */
const withFields = (fields: object, which: (call: ServedCall) => boolean = () => true): Fault =>
  replyTo(
    (call, { body }) => body !== undefined && which(call),
    ({ body = '' }) => json({ ...(JSON.parse(body) as object), ...fields }),
  );

/** Changes the credentials of a sign-in that is JSON. */
const readingCredentials = (change: (credentials: Record<string, unknown>) => object): Fault => ({
  request: (call) => {
    try {
      const credentials = JSON.parse(call.body) as unknown;
      if (typeof credentials !== 'object' || credentials === null) return call;
      return { ...call, body: JSON.stringify(change(credentials as Record<string, unknown>)) };
    } catch {
      return call;
    }
  },
});

const RECORDS = [
  ...['sign-in', 'sign-in-slash'].flatMap((row) => [`${row}.record`, `${row}.record-of-others`, `${row}.iv`]),
  'sign-in.charset',
  'sign-in.any-token',
];
const READS = ['user-details.record', 'user-details.record-of-others', 'user-details.iv'];
const OPERATIONS = { 'user-details': isRead, 'sign-out': isSignOut, 'sign-in': isSignIn };
const OF_KEYS = Object.keys(OPERATIONS);
const OF_TOKENS = ['sign-out', 'user-details'];

/** The rows with these ids, about a key or a token, of some operations. */
const rowsOf = (what: 'key' | 'token', operations: readonly string[], ids: readonly string[]): string[] =>
  operations.flatMap((name) => ids.map((id) => `${what}.${name}.${id}`));

const anyKey = (which: (call: ServedCall) => boolean): Fault => ({
  request: (call) => (which(call) ? withHeaders(call, { 'x-api-key': API_KEY }) : call),
});

/** Also in arrays, in prototypes, and with blanks around the name. */
const readFreely = readingCredentials((credentials) => {
  const merged = {} as Record<string, unknown>;
  const first: unknown = Array.isArray(credentials) ? credentials[0] : credentials;
  for (const [name, value] of Object.entries(first ?? {})) merged[name] = value;
  const { username, password } = merged;
  return { username: typeof username === 'string' ? username.trim() : username, password };
});

export const FAULTS: readonly FaultRow[] = [
  ...Object.entries(OPERATIONS).map(([name, which]) => ({
    name: `checks no key: ${name}`,
    fault: anyKey(which),
    fails: rowsOf('key', [name], ['missing', 'unknown', 'empty', 'blank', 'almost', 'elsewhere']),
  })),
  {
    name: 'compares only the start of a key, and reads it from Authorization too',
    fault: anyKey(
      ({ headers }) =>
        headers['x-api-key']?.startsWith(API_KEY) === true || headers.authorization === `Bearer ${API_KEY}`,
    ),
    fails: rowsOf('key', OF_KEYS, ['almost', 'elsewhere']),
  },
  {
    name: 'compares only the start of a token, and reads it from a cookie too',
    fault: {
      request: (call) => {
        const [, ofCookie] = /auth_token=(\S+)/.exec(call.headers.cookie ?? '') ?? [];
        return withHeaders(call, { 'x-auth-token': ofCookie ?? call.headers['x-auth-token']?.slice(0, 36) });
      },
    },
    fails: rowsOf('token', OF_TOKENS, ['almost', 'elsewhere']),
  },
  {
    name: 'says why in the body of a refused read of an unknown token',
    fault: replyTo(
      (call, usual) => isRead(call) && usual.status === 401,
      () => ({ status: 401, body: '{"error":"unknown"}' }),
    ),
    fails: [
      'sign-out.ends-session',
      ...rowsOf(
        'token',
        ['user-details'],
        ['missing', 'unknown', 'empty', 'blank', 'long', 'sql', 'almost', 'elsewhere'],
      ),
    ],
  },
  {
    name: 'accepts any password of a user, and none',
    fault: readingCredentials((credentials) => (credentials.username === ANN.username ? ANN : credentials)),
    fails: [
      ...['sign-in', 'sign-in-slash', 'nul', 'surrogate', 'sql', 'absent', 'empty', 'null'].map(
        (id) => `wrong-password.${id}`,
      ),
      'malformed.array-password',
    ],
  },
  {
    name: 'reads credentials in any form',
    fault: {
      request: (call) => {
        if (call.body.startsWith('username='))
          return { ...call, body: JSON.stringify(Object.fromEntries(new URLSearchParams(call.body))) };
        return readFreely.request?.(call) ?? call;
      },
    },
    fails: ['array', 'form', 'prototype'].map((id) => `malformed.${id}`).concat('credentials.username-blank'),
  },
  {
    name: 'minds no Content-Type',
    fault: { request: (call) => withHeaders(call, { 'content-type': 'application/json' }) },
    fails: ['media-type.text', 'media-type.form', 'media-type.jsonish', 'media-type.empty'],
  },
  {
    name: 'refuses an X-AUTH-IV, a charset, and other spellings of the header of the key',
    fault: {
      request: (call) => {
        const isStrange =
          call.headers['x-auth-iv'] !== undefined || call.headers['content-type']?.includes('charset');
        if (isStrange) return { ...call, path: '/nowhere' };
        return call.rawHeaders.includes('X-API-KEY') ? call : withHeaders(call, { 'x-api-key': undefined });
      },
    },
    fails: [
      ...['sign-in.iv', 'sign-in-slash.iv', 'sign-out.iv', 'user-details.iv', 'sign-in.charset'],
      ...rowsOf('key', OF_KEYS, ['any-case']),
    ],
  },
  {
    name: 'redirects a sign-in with a slash at the end',
    fault: {
      request: (call) => (call.path.endsWith('/') ? { ...call, path: '/nowhere' } : call),
      reply: (usual, { path }) =>
        path.endsWith('/') ? { status: 308, headers: { location: '/authentication' } } : usual,
    },
    fails: [...RECORDS.filter((id) => id.includes('slash')), 'wrong-password.sign-in-slash'],
  },
  {
    name: 'keeps sessions at a sign-out',
    fault: replyTo(granted(isSignOut), (usual, call, { sessions }) => {
      sessions.set(call.headers['x-auth-token'] ?? '', ANN.username);
      return usual;
    }),
    fails: ['sign-out.ends-session'],
  },
  {
    name: 'grants a token only one read',
    fault: replyTo(granted(isRead), (usual, call, { sessions }) => {
      sessions.delete(call.headers['x-auth-token'] ?? '');
      return usual;
    }),
    fails: ['user-details.repeated'],
  },
  {
    name: 'returns the record of another user',
    fault: withFields({ username: 'bob' }, isRead),
    fails: ['user-details.record'],
  },
  {
    name: 'writes a flag as a text',
    fault: withFields({ help_checkbox: 'true' }),
    fails: [...RECORDS, ...READS],
  },
  {
    name: 'says more to a pending user',
    fault: replyTo(
      (_call, { status }) => status === 202,
      () => ({ status: 202, body: 'later' }),
    ),
    fails: ['sign-in.pending'],
  },
];
