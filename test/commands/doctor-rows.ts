import { json, type Habits, type OddCall, type OddReply, USER } from './odd-service.js';

/** A service with a habit, and the expected findings of the doctor. */
export interface Row extends Habits {
  readonly name: string;
  /** Checks that must fail. None: the guard must work with the advised options. */
  readonly fails?: readonly string[];
  readonly warns?: readonly string[];
  /**
   * Advised options, except `baseUrl`, beside `statusMap: { 403: 'unavailable' }`, which follows from a 403 to a
   * wrong key.
   */
  readonly options?: object;
  /** Changes the URL that the doctor is given. */
  readonly urlOf?: (url: string) => string;
  /** The statuses of the guard for a user and for a junk token. @default [503, 503] with `fails` */
  readonly guard?: readonly [user: number, junk: number];
  /** Whether a session may stay open, because the service ends none. */
  readonly endsNoSession?: true;
}

type Answer = NonNullable<Habits['answer']>;
type Write = NonNullable<Habits['write']>;

/** Changes only answers of one kind. */
const on =
  (
    which: (call: OddCall, usual: OddReply) => boolean,
    reply: OddReply | ((usual: OddReply, call: OddCall) => OddReply),
  ): Answer =>
  (usual, call) =>
    which(call, usual) ? (typeof reply === 'function' ? reply(usual, call) : reply) : usual;

const isBadToken = (call: OddCall, usual: OddReply): boolean =>
  call.operation === 'user_details' && usual.status === 401;
const isBadKey = (_call: OddCall, usual: OddReply): boolean => usual.status === 403;
const isRefusedSignIn = (call: OddCall, usual: OddReply): boolean => isSignIn(call) && usual.status === 401;
const isBadPath = ({ operation }: OddCall): boolean => operation === 'none';
const isRead = (call: OddCall, usual: OddReply): boolean =>
  call.operation === 'user_details' && usual.status === 200;
const isSignIn = ({ operation }: OddCall): boolean => operation === 'sign_in';
const isSignOut = ({ operation }: OddCall): boolean => operation === 'sign_out';
const page = (status: number): OddReply => ({
  status,
  body: '<!doctype html><h1>Sign in</h1>',
  headers: { 'content-type': 'text/html' },
});
const isRecord = (call: OddCall, usual: OddReply): boolean =>
  usual.status === 200 && call.operation !== 'sign_out';
const withRecord = (fields: object, which = isRecord): Answer =>
  on(which, (usual) => json({ ...(JSON.parse(String(usual.body)) as object), ...fields }));
const withHeaders = (headers: Record<string, string>, which = isRead): Answer =>
  on(which, (usual) => ({ ...usual, headers: { ...usual.headers, ...headers } }));

const drip: Write = (reply, call, response) => {
  if (!isRead(call, reply)) return false;
  const body = String(reply.body);
  response.writeHead(reply.status, reply.headers);
  response.write(body.slice(0, 10));
  setTimeout(() => response.end(body.slice(10)), 400).unref();
  return true;
};

const slowly =
  (ms: number): Write =>
  (reply, call, response) => {
    if (!isRead(call, reply)) return false;
    setTimeout(() => response.writeHead(reply.status, reply.headers).end(reply.body), ms).unref();
    return true;
  };

const keepAtSignOut: Answer = (usual, call, service) => {
  if (isSignOut(call) && usual.status === 200 && call.token) service.sessions.set(call.token, undefined);
  return usual;
};

export const ROWS: readonly Row[] = [
  { name: 'keeps the interface' },
  { name: 'stands at the root of its host, given with a slash', basePath: '', urlOf: (url) => `${url}/` },
  // Statuses of refusals
  {
    name: 'refuses tokens with 403, and keys too',
    answer: on(isBadToken, { status: 403 }),
    warns: ['wrong-key', 'no-key'],
    options: { statusMap: { 403: 'unauthenticated' } },
  },
  {
    name: 'answers a wrong password with 403',
    answer: on(isRefusedSignIn, { status: 403 }),
    warns: ['wrong-password'],
    options: { statusMap: { 403: 'unavailable', signIn: { 403: 'rejected' } } },
  },
  {
    name: 'refuses tokens with a 404 with a body, and keys too',
    answer: on((...call) => isBadToken(...call) || isBadKey(...call), json({ error: 'no session' }, 404)),
    warns: ['bodies', 'no-key', 'wrong-key', 'wrong-path'],
    options: { statusMap: { 404: 'unauthenticated' } },
  },
  {
    name: 'refuses keys with 401, as tokens',
    answer: on(isBadKey, { status: 401 }),
    options: { statusMap: undefined },
    warns: ['wrong-key', 'no-key'],
  },
  {
    name: 'checks no key',
    answer: (usual, call, service) =>
      isBadKey(call, usual) && call.operation === 'user_details'
        ? call.isSession
          ? service.record(call.token)
          : { status: 401 }
        : usual,
    warns: ['wrong-key', 'no-key'],
    options: { statusMap: undefined },
  },
  {
    name: 'answers unknown paths with an empty 404',
    answer: on(isBadPath, { status: 404 }),
    options: { statusMap: { 403: 'unavailable', 404: 'unavailable' } },
  },
  { name: 'answers unknown paths with 401', answer: on(isBadPath, { status: 401 }), warns: ['wrong-path'] },
  // Not the service
  {
    name: 'is a web site that answers everything with a page',
    answer: () => page(200),
    fails: ['session-service'],
  },
  {
    name: 'is a gateway that knows no path',
    answer: () => page(404),
    fails: ['session-service', 'sign-in'],
    endsNoSession: true,
  },
  {
    name: 'accepts any token',
    answer: (usual, call, service) =>
      call.operation === 'user_details' ? service.record(call.token) : usual,
    fails: ['session-service'],
    guard: [200, 200],
  },
  {
    name: 'is open without a token',
    answer: (usual, call, service) =>
      call.operation === 'user_details' && call.token === undefined && call.key !== undefined
        ? service.record(undefined)
        : usual,
    fails: ['no-token'],
    guard: [200, 401],
  },
  // Paths
  {
    name: 'redirects to an address that repeats the key',
    answer: on(isBadToken, (_usual, { key }) => ({
      status: 302,
      headers: { location: `/${key ?? ''}/authentication/user_details` },
    })),
    fails: ['redirects'],
    guard: [200, 503],
  },
  {
    name: 'wants a slash at the end of the path',
    answer: (usual, { path, operation }) =>
      operation === 'user_details'
        ? { status: 404, body: 'no' }
        : path.endsWith('/user_details/')
          ? { status: 401 }
          : usual,
    fails: ['trailing-slash'],
  },
  // Tokens and records
  { name: 'returns no token', answer: withRecord({ auth_token: undefined }, isRead) },
  {
    name: 'returns a new token each time, and keeps the old one',
    answer: (usual, call, service) =>
      withRecord({ auth_token: `rotated-${call.number}` }, isRead)(usual, call, service),
    warns: ['token-echo'],
    options: { tokenEcho: 'ignore' },
  },
  {
    name: "answers with another user's record",
    answer: on(isRead, json({ username: 'bob', auth_token: 'the-token-of-bob' })),
    fails: ['token-echo'],
    guard: [503, 401],
  },
  {
    name: 'has a flag that is a text',
    answer: withRecord({ ats_enabled: 'yes' }),
    fails: ['sign-in'],
    guard: [503, 401],
  },
  {
    name: 'has records of 100 KB',
    answer: withRecord({ biography: 'x'.repeat(100_000) }),
    warns: ['response-size'],
    options: { http: { maxResponseBytes: 262_144 } },
  },
  {
    name: 'has tokens of 6000 bytes',
    newToken: (number) => `${'t'.repeat(6_000)}${number}`,
    options: { http: { maxTokenLength: 12_002 } },
  },
  {
    name: 'says that its JSON is text',
    answer: withHeaders({ 'content-type': 'text/plain' }, isRecord),
    fails: ['sign-in'],
    guard: [503, 401],
  },
  // Sign-in and sign-out
  {
    name: 'signs in anyone',
    answer: (usual, call, service) =>
      isRefusedSignIn(call, usual) ? service.record(service.issue()) : usual,
    fails: ['wrong-password'],
    guard: [200, 401],
  },
  {
    name: 'repeats the password in its records',
    answer: withRecord({ display_label: USER.password }),
    warns: ['secrets-in-replies'],
  },
  {
    name: 'ends no session at its sign-out',
    answer: keepAtSignOut,
    fails: ['ended-token'],
    endsNoSession: true,
    guard: [200, 401],
  },
  // IV
  {
    name: 'refuses any IV when a session is read',
    answer: on((call) => call.operation === 'user_details' && call.authIv !== undefined, { status: 401 }),
    warns: ['iv'],
    options: { forwardAuthIv: false },
  },
  // Headers
  {
    name: 'allows caching for ten seconds',
    answer: withHeaders({ 'cache-control': 'max-age=10' }),
    warns: ['cache'],
  },
  {
    name: 'repeats key, token, IV and password in refusals',
    answer: (usual, call) =>
      usual.status < 400
        ? usual
        : json({ ...call }, usual.status, {
            'x-echo': `${call.key ?? ''} ${call.token ?? ''} ${call.authIv ?? ''}`,
          }),
    warns: ['secrets-in-replies', 'bodies'],
  },
  // Connections
  {
    name: 'closes each connection',
    answer: withHeaders({ connection: 'close' }, () => true),
    warns: ['keep-alive'],
  },
  { name: 'sends bodies slowly', write: drip, warns: ['slow-body'] },
  { name: 'takes 1.2 seconds', write: slowly(1_200), warns: ['latency'] },
  { name: 'never answers', write: () => true, fails: ['reachable'] },
  // Limits
  {
    name: 'limits the rate at the tenth call',
    answer: on((call) => call.number > 10 && call.operation === 'user_details', { status: 429 }),
    fails: ['rate-limit'],
  },
];
