import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import { isLate } from '../contract/late-results.js';
import { AUTH_IV_HEADER, isHeaderValue } from '../contract/wire.js';
import { CROSS_ORIGIN_DENIED, SESSION_REJECTED, SESSION_REQUIRED } from '../contract/denials.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { type HttpRequest, headerCount, isCookieName, isHeaderName, KEPT_ONCE } from './http-request.js';
import {
  isCrossOriginToken,
  CROSS_ORIGIN_TOKEN,
  isCrossOrigin,
  type CrossOriginOptions,
  readTrustedOrigins,
} from './cross-origin.js';
import { Challenge } from './challenge.js';
import { callParameter } from './transport.js';

/** The result of a source: one token, several, or none. Several count as a malformed token. */
export type FoundToken = string | readonly string[] | undefined;

/** Finds the token of a call: a built-in source, or your own function of the execution context. */
export interface TokenSource {
  /**
   * Returns the token of a call. In every kind of context, `request.headers` has lower-case names: for a
   * socket, it has the headers of the request that opened it; for a message, the headers of the message or
   * the gRPC metadata. What the client of a socket wrote later is in `request.handshakeFields`. If a source
   * throws or answers later, the token counts as malformed: 401.
   */
  (context: ExecutionContext, request: HttpRequest): FoundToken;
  /** The request header that the source reads, for `Vary`. */
  readonly header?: string;
  /**
   * The authentication scheme that a 401 names in `WWW-Authenticate`, if no source before it has one.
   * @default the name of `header`
   */
  readonly scheme?: string;
}

/**
 * Reads the token from the whole value of a request header. In a message, reads the header or the gRPC
 * metadata of that name. For a socket without that header, reads the field of that name, or `token` (in
 * `auth` of socket.io, in `connectionParams` of graphql-ws).
 * @throws InvalidConfigurationError if `name` can't be that of a header
 */
export function fromHeader(name: string): TokenSource {
  if (!isHeaderName(name))
    throw new InvalidConfigurationError(
      "fromHeader() needs the name of a header: write fromHeader('x-auth-token').",
    );
  const header = name.toLowerCase();
  return source(
    name,
    (_context, request) =>
      readHeader(request, header) ?? readField(request, header) ?? readField(request, 'token'),
  );
}

const BEARER = /^bearer(?: +|$)/i;

/**
 * Reads the token after `Bearer` in the `Authorization` header (RFC 6750, section 2.1). Another scheme counts
 * as no token. In other contexts than HTTP, reads the same places as {@link fromHeader}. The `token` of a
 * handshake may have the prefix or not.
 */
export function fromBearer(): TokenSource {
  const bearer = source('Authorization', (_context, request) => {
    const found = withoutScheme(readHeader(request, 'authorization'));
    if (found !== undefined) return found;
    const field = readField(request, 'authorization') ?? undefined;
    if (field !== undefined) return withoutScheme(field);
    const token = readField(request, 'token');
    return withoutScheme(token) ?? token;
  });
  return Object.assign(bearer, { scheme: 'Bearer' });
}

function withoutScheme(value: FoundToken): FoundToken {
  if (typeof value !== 'string') return value;
  return BEARER.test(value) ? value.replace(BEARER, '') : undefined;
}

/**
 * Reads the token from the value of a cookie, as it is in the `Cookie` header, without decoding.
 *
 * Browsers send cookies with the requests of any page. A cookie in a request of another origin's page is
 * denied with 403 `CROSS_ORIGIN_DENIED`, unless the method is GET, HEAD or OPTIONS. So is one in the
 * handshake of a socket. `trustedOrigins` names other origins whose pages are admitted.
 * @throws InvalidConfigurationError if `name` can't be that of a cookie, or an origin is invalid
 */
export function fromCookie(name: string, options: CrossOriginOptions = {}): TokenSource {
  if (!isCookieName(name))
    throw new InvalidConfigurationError(
      "fromCookie() needs the name of a cookie: write fromCookie('session').",
    );
  const trusted = readTrustedOrigins('fromCookie()', options);
  const prefix = `${name}=`;
  return source('Cookie', (_context, request) => {
    const found = readCookie(request.headers.cookie, prefix);
    return found !== undefined && found !== '' && isCrossOrigin(request, trusted)
      ? CROSS_ORIGIN_TOKEN
      : found;
  });
}

/**
 * Not `trim()`, which also removes bytes that a subdomain may put before the name, to imitate a cookie with
 * the prefix `__Host-`.
 */
const BLANKS = /^[ \t]+/;

function readCookie(cookie: string | undefined, prefix: string): FoundToken {
  if (cookie === undefined) return undefined;
  const values = cookie
    .split(';')
    .map((pair) => pair.replace(BLANKS, '').trimEnd())
    .filter((pair) => pair.startsWith(prefix));
  return values.length > 1 ? values : values[0]?.slice(prefix.length);
}

function source(
  header: string,
  find: (context: ExecutionContext, request: HttpRequest) => FoundToken,
): TokenSource {
  return Object.assign(find, { header });
}

function readHeader(request: HttpRequest, header: string): FoundToken {
  const value = request.headers[header];
  if (typeof value !== 'string' || !KEPT_ONCE.has(header)) return value;
  return headerCount(request, header) > 1 ? [value, value] : value;
}

function readField({ handshakeFields }: HttpRequest, name: string): FoundToken {
  return handshakeFields?.[name] as FoundToken;
}

const MESSAGES: ReadonlySet<string> = new Set(['ws', 'rpc']);

/**
 * Reads the token from a field of a message's payload. The only built-in source for TCP and Redis, whose
 * messages have no headers; gateways and other microservices can use it too. Returns no token over HTTP and
 * in GraphQL, where a token in the payload would appear in logs and caches.
 * @throws InvalidConfigurationError if `field` is not a non-empty string
 */
export function fromPayload(field: string): TokenSource {
  if (typeof field !== 'string' || field === '')
    throw new InvalidConfigurationError(
      "fromPayload() needs the name of a field: write fromPayload('token').",
    );
  return (context) =>
    MESSAGES.has(context.getType()) ? (callParameter(context, field) as FoundToken) : undefined;
}

export interface SessionReaderSettings {
  readonly sources: readonly TokenSource[];
  readonly forwardAuthIv: boolean;
  /** Maximum length of a token or an IV, in bytes. */
  readonly maxTokenLength: number;
  /** Called if a source of the application throws, or answers later. */
  readonly failed?: () => void;
}

const AUTH_IV = AUTH_IV_HEADER.toLowerCase();

/** Reads the session that a request presents. The first source that returns a value decides. */
export class SessionReader {
  readonly #settings: SessionReaderSettings;
  /** Request headers that the response depends on, for `Vary`. */
  readonly vary: string;
  readonly challenge: Challenge;

  constructor(settings: SessionReaderSettings) {
    this.#settings = settings;
    this.vary = [...new Set(settings.sources.flatMap(({ header }) => header ?? []))].join(', ');
    this.challenge = new Challenge(settings.sources);
  }

  /** If a source of the application throws or answers later, the token counts as malformed. */
  read(
    context: ExecutionContext,
    request: HttpRequest,
  ): SessionIdentity | typeof SESSION_REQUIRED | typeof SESSION_REJECTED | typeof CROSS_ORIGIN_DENIED {
    const { sources, forwardAuthIv, maxTokenLength, failed } = this.#settings;
    let token: unknown;
    for (const find of sources) {
      try {
        token = find(context, request) ?? undefined;
      } catch {
        token = NaN;
        failed?.();
      }
      if (token !== undefined) break;
    }
    if (token === undefined || token === '') return SESSION_REQUIRED;
    if (!isHeaderValue(token, maxTokenLength)) {
      if (isLate(token)) failed?.();
      return isCrossOriginToken(token) ? CROSS_ORIGIN_DENIED : SESSION_REJECTED;
    }
    const authIv = forwardAuthIv
      ? (request.headers[AUTH_IV] ?? request.handshakeFields?.[AUTH_IV])
      : undefined;
    if (authIv !== undefined && !isHeaderValue(authIv, maxTokenLength)) return SESSION_REJECTED;
    return { token, authIv };
  }
}
