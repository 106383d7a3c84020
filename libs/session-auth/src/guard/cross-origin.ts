import type { IncomingHttpHeaders } from 'node:http';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { HttpRequest } from './http-request.js';

/** They must not change anything (RFC 9110, section 9.2.1), and CORS keeps their responses from pages. */
const SAFE_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns whether a page of another origin made a browser send a request that may change something, or that
 * opens a socket. Decides as Go's `net/http.CrossOriginProtection`: by `Sec-Fetch-Site`, else by `Origin` and
 * `Host`; for a socket by both, because Chromium sends no `Sec-Fetch-Site` with it. Without both, no browser
 * sent the request. A page can set none of these headers. `X-Forwarded-Host` is not read, because any client
 * can send it.
 * @param trusted origins whose pages may send such requests
 */
export function isCrossOrigin(request: HttpRequest, trusted: ReadonlySet<string>): boolean {
  // Nothing is known of the page that opened the socket.
  if (request.handshakeFields && !request.rawHeaders) return true;
  const { headers } = request;
  const isSocket = request.handshakeFields !== undefined || opensSocket(headers);
  if (!isSocket && SAFE_METHODS.has(request.method)) return false;
  const { 'sec-fetch-site': site, origin } = headers;
  if (origin !== undefined && trusted.has(origin)) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  if (site !== undefined && !isSocket) return false;
  return origin !== undefined && !isOwnOrigin(origin, headers.host ?? headers[':authority']);
}

/** Found anywhere: a header that is repeated is a list. */
const WEBSOCKET = /websocket/i;

/**
 * A handshake is a GET, but its page can use the socket whatever its origin is: CORS does not apply to
 * sockets.
 */
function opensSocket({ upgrade = '', 'sec-fetch-mode': mode = '' }: IncomingHttpHeaders): boolean {
  return WEBSOCKET.test(mode) || WEBSOCKET.test(upgrade);
}

/** A host with or without a port, and nothing that `URL` would read as another part. */
const HOST = /^[^\s\\/?#@]+$/;

/**
 * The scheme that the browser used is unknown behind a proxy: a port that is the default of the origin's scheme
 * may be absent.
 */
function isOwnOrigin(origin: string, host: unknown): boolean {
  if (!isWebOrigin(origin) || typeof host !== 'string' || !HOST.test(host)) return false;
  const { protocol, host: own } = new URL(origin);
  const target = `${protocol}//${host}`;
  return URL.canParse(target) && new URL(target).host === own;
}

/** As browsers write it: `https://example.com:8443`, without a default port. */
function isWebOrigin(value: string): boolean {
  return /^https?:\/\//.test(value) && URL.canParse(value) && new URL(value).origin === value;
}

/** Shared by all copies of this package. */
const MARK = Symbol.for('nestjs-session-auth:cross-origin-token');

/** Found instead of a token that the browser sent by itself, in a request of another origin's page. */
export const CROSS_ORIGIN_TOKEN: readonly string[] = Object.freeze(
  Object.assign([] as string[], { [MARK]: true }),
);

export function isCrossOriginToken(found: unknown): boolean {
  return typeof found === 'object' && found !== null && MARK in found;
}

/** Options of {@link fromCookie} and of `SameOriginGuard`. */
export interface CrossOriginOptions {
  /**
   * Origins whose pages may change something with the cookie, and open sockets: each exactly as browsers
   * write it, such as `https://app.example.com` or `http://localhost:5173`. No wildcard, no path, no trailing
   * slash. The application's own origin needs no entry, unless a proxy replaces the `Host` header. @default
   * none
   */
  readonly trustedOrigins?: readonly string[];
}

/** Web views of applications have schemes of their own, such as `capacitor://localhost`. */
const OWN_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d{1,5})?$/;
const OPTION = 'trustedOrigins';
const REMEDY = "Write each as browsers do, as in 'https://app.example.com' or 'http://localhost:5173'";

/** @throws InvalidConfigurationError that begins with `owner`, which has the options */
export function readTrustedOrigins(owner: string, options: unknown): ReadonlySet<string> {
  const reject = (problem: string, remedy: string): never => {
    throw new InvalidConfigurationError(`${owner} has ${problem}. ${remedy}.`);
  };
  if (typeof options !== 'object' || options === null)
    return reject('options that are not an object', `It may hold ${OPTION}`);
  const unknown = Object.keys(options).find((name) => name !== OPTION);
  if (unknown !== undefined)
    reject(`${JSON.stringify(unknown)}, which is not an option`, `The option is ${OPTION}`);
  const { trustedOrigins: origins = [] } = options as CrossOriginOptions;
  if (!Array.isArray(origins)) return reject(`${OPTION} that is not a list`, REMEDY);
  const index = origins.findIndex((origin: unknown) => !isOrigin(origin));
  if (index !== -1) reject(`${OPTION}[${index}]${nameOf(origins[index])} that is not an origin`, REMEDY);
  return new Set(origins);
}

function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('*') && (isWebOrigin(value) || OWN_SCHEME.test(value));
}

/** Not printed with user info: it may be a password. */
function nameOf(value: unknown): string {
  return typeof value === 'string' && !value.includes('@') ? `, ${JSON.stringify(value)},` : '';
}
