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
  'sign-in.record',
  'sign-in.record-of-others',
  'sign-in.iv',
  'sign-in-slash.record',
  'sign-in-slash.record-of-others',
  'sign-in-slash.iv',
  'sign-in.charset',
  'sign-in.any-token',
];
const READS = ['user-details.record', 'user-details.record-of-others', 'user-details.iv'];

const anyKey = (which: (call: ServedCall) => boolean): Fault => ({
  request: (call) => (which(call) ? withHeaders(call, { 'x-api-key': API_KEY }) : call),
});

export const FAULTS: readonly FaultRow[] = [
  ...Object.entries({ 'user-details': isRead, 'sign-out': isSignOut, 'sign-in': isSignIn }).map(
    ([name, which]) => ({
      name: `checks no key: ${name}`,
      fault: anyKey(which),
      fails: ['missing', 'unknown', 'empty', 'blank', 'almost', 'elsewhere'].map((id) => `key.${name}.${id}`),
    }),
  ),
  {
    name: 'compares only the start of a key',
    fault: anyKey(({ headers }) => headers['x-api-key']?.startsWith(API_KEY) === true),
    fails: ['key.sign-in.almost', 'key.sign-out.almost', 'key.user-details.almost'],
  },
  {
    name: 'reads the key from Authorization too',
    fault: anyKey(({ headers }) => headers.authorization === `Bearer ${API_KEY}`),
    fails: ['key.sign-in.elsewhere', 'key.sign-out.elsewhere', 'key.user-details.elsewhere'],
  },
  {
    name: 'reads the token from a cookie too',
    fault: {
      request: (call: ServedCall): ServedCall => {
        const [, token] = /auth_token=(\S+)/.exec(call.headers.cookie ?? '') ?? [];
        return token === undefined ? call : withHeaders(call, { 'x-auth-token': token });
      },
    },
    fails: ['token.sign-out.elsewhere', 'token.user-details.elsewhere'],
  },
  {
    name: 'compares only the first 36 characters of a token',
    fault: {
      request: (call) => withHeaders(call, { 'x-auth-token': call.headers['x-auth-token']?.slice(0, 36) }),
    },
    fails: ['token.sign-out.almost', 'token.user-details.almost'],
  },
  {
    name: 'answers 500 to a very long token',
    fault: replyTo(
      (call) => (call.headers['x-auth-token']?.length ?? 0) > 1_000,
      () => ({ status: 500 }),
    ),
    fails: ['token.sign-out.long', 'token.user-details.long'],
  },
  {
    name: 'answers 422 to a token with SQL',
    fault: replyTo(
      (call) => call.headers['x-auth-token']?.includes("'") === true,
      () => ({ status: 422 }),
    ),
    fails: ['token.sign-out.sql', 'token.user-details.sql'],
  },
  {
    name: 'says why in the body of a refused read of an unknown token',
    fault: replyTo(
      (call, usual) => isRead(call) && usual.status === 401,
      () => ({ status: 401, body: '{"error":"unknown"}' }),
    ),
    fails: [
      'sign-out.ends-session',
      ...['missing', 'unknown', 'empty', 'blank', 'long', 'sql', 'almost', 'elsewhere'].map(
        (id) => `token.user-details.${id}`,
      ),
    ],
  },
  {
    name: 'answers 500 to a sign-in without a password',
    fault: replyTo(
      ({ body }) => /^\{"username":"[^"]*"\}$/.test(body),
      () => ({ status: 500 }),
    ),
    fails: ['malformed.no-password', 'wrong-password.absent'],
  },
  {
    name: 'signs anyone in without a password, who has one',
    fault: readingCredentials((credentials) =>
      credentials.username === ANN.username && !credentials.password ? ANN : credentials,
    ),
    fails: ['wrong-password.absent', 'wrong-password.empty', 'wrong-password.null'],
  },
  {
    name: 'cuts a password at its NUL character',
    fault: readingCredentials((credentials) => ({
      ...credentials,
      ...(typeof credentials.password === 'string' && { password: credentials.password.replace(/\0.*/, '') }),
    })),
    fails: ['wrong-password.nul'],
  },
  {
    name: 'accepts any password of a user',
    fault: readingCredentials((credentials) =>
      credentials.username === ANN.username &&
      typeof credentials.password === 'string' &&
      credentials.password
        ? ANN
        : credentials,
    ),
    fails: [
      'wrong-password.sign-in',
      'wrong-password.sign-in-slash',
      'wrong-password.nul',
      'wrong-password.surrogate',
      'wrong-password.sql',
    ],
  },
  {
    name: 'removes blanks from a username',
    fault: readingCredentials((credentials) => ({
      ...credentials,
      ...(typeof credentials.username === 'string' && { username: credentials.username.trim() }),
    })),
    fails: ['credentials.username-blank'],
  },
  {
    name: 'reads the first of an array of credentials',
    fault: readingCredentials((credentials) =>
      Array.isArray(credentials) ? ((credentials[0] ?? {}) as object) : credentials,
    ),
    fails: ['malformed.array'],
  },
  {
    name: 'reads an array as a text',
    fault: readingCredentials((credentials) => ({
      ...credentials,
      ...(Array.isArray(credentials.password) && { password: String(credentials.password) }),
    })),
    fails: ['malformed.array-password'],
  },
  {
    name: 'merges the credentials into an object',
    fault: readingCredentials((credentials) => {
      const merged = {} as Record<string, unknown>;
      for (const [name, value] of Object.entries(credentials)) merged[name] = value;
      return { username: merged.username, password: merged.password };
    }),
    fails: ['malformed.prototype'],
  },
  {
    name: 'reads forms',
    fault: {
      request: (call) =>
        call.body.startsWith('username=')
          ? { ...call, body: JSON.stringify(Object.fromEntries(new URLSearchParams(call.body))) }
          : call,
    },
    fails: ['malformed.form'],
  },
  {
    name: 'minds no Content-Type',
    fault: { request: (call) => withHeaders(call, { 'content-type': 'application/json' }) },
    fails: ['media-type.text', 'media-type.form', 'media-type.jsonish', 'media-type.empty'],
  },
  {
    name: 'minds a charset',
    fault: {
      request: (call) =>
        call.headers['content-type']?.includes('charset')
          ? withHeaders(call, { 'content-type': 'text/plain' })
          : call,
    },
    fails: ['sign-in.charset'],
  },
  {
    name: 'redirects a sign-in with a slash at the end',
    fault: {
      request: (call) => (call.path.endsWith('/') ? { ...call, path: '/nowhere' } : call),
      reply: (usual, { path }) =>
        path.endsWith('/') ? { status: 308, headers: { location: '/authentication' } } : usual,
    },
    fails: [
      'sign-in-slash.record',
      'sign-in-slash.record-of-others',
      'sign-in-slash.iv',
      'wrong-password.sign-in-slash',
    ],
  },
  {
    name: 'refuses an X-AUTH-IV',
    fault: {
      request: (call) => (call.headers['x-auth-iv'] === undefined ? call : { ...call, path: '/nowhere' }),
    },
    fails: ['sign-in.iv', 'sign-in-slash.iv', 'sign-out.iv', 'user-details.iv'],
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
    name: 'answers 204 to a sign-out',
    fault: replyTo(granted(isSignOut), () => ({ status: 204 })),
    fails: ['sign-out.ends-session', 'sign-out.iv', 'key.sign-out.any-case'],
  },
  {
    name: 'sends a body with a sign-out',
    fault: replyTo(granted(isSignOut), () => json({})),
    fails: ['sign-out.ends-session', 'sign-out.iv'],
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
    name: 'writes an id as a text in reads',
    fault: withFields({ ccl_info: { client_id: '7' } }, isRead),
    fails: READS,
  },
  {
    name: 'writes null for a language in reads',
    fault: withFields({ preffered_language: null }, isRead),
    fails: READS,
  },
  {
    name: 'signs in with 201',
    fault: replyTo(granted(isSignIn), (usual) => ({ ...usual, status: 201 })),
    fails: [...RECORDS, 'key.sign-in.any-case', 'user-details.record', 'user-details.record-of-others'],
  },
  {
    name: 'sends records as HTML',
    fault: replyTo(
      (call, { body }) => isRead(call) && body !== undefined,
      (usual) => ({ ...usual, headers: { 'content-type': 'text/html' } }),
    ),
    fails: READS,
  },
  {
    name: 'says more to a pending user',
    fault: replyTo(
      (_call, { status }) => status === 202,
      () => ({ status: 202, body: 'later' }),
    ),
    fails: ['sign-in.pending'],
  },
  {
    name: 'knows one spelling of the header of the key',
    fault: {
      request: (call) =>
        call.rawHeaders.includes('X-API-KEY') ? call : withHeaders(call, { 'x-api-key': undefined }),
    },
    fails: ['key.sign-in.any-case', 'key.sign-out.any-case', 'key.user-details.any-case'],
  },
];
