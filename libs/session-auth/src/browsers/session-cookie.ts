import { InvalidConfigurationError } from '../contract/errors.js';
import { isHeaderValue } from '../contract/wire.js';
import { isCookieName } from '../guard/http-request.js';
import type { CookieSettings, SameSite, SessionCookieOptions } from './cookie-options.js';

/** Browsers drop a cookie whose name and value are longer (RFC 6265bis, section 5.6). */
const MAX_BYTES = 4096;
const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const satisfies Record<SameSite, string>;

/**
 * Returns the `Set-Cookie` header that gives a session to a browser, after a sign-in. Always `HttpOnly`:
 * scripts can't read it.
 *
 * @example
 * ```ts
 * const header = { 'set-cookie': sessionCookie('…') }; // __Host-session=…; Path=/; HttpOnly; Secure; SameSite=Lax
 * ```
 * @throws InvalidConfigurationError if browsers would drop the cookie, or the token can't be in one. The
 * message does not contain the token
 */
export function sessionCookie(token: string, options: SessionCookieOptions = {}): string {
  const settings = readOptions('sessionCookie', options);
  const longest = MAX_BYTES - settings.name.length;
  if (isHeaderValue(token, longest) && !token.includes(';')) return serialize(token, settings);
  return reject(
    'sessionCookie',
    `the token must be 1 to ${longest} visible ASCII characters without ';'`,
    'Send such a token in a header instead',
  );
}

/**
 * Returns the `Set-Cookie` header that removes the cookie, after a sign-out. Needs the options of
 * {@link sessionCookie}.
 */
export function endedSessionCookie(options: SessionCookieOptions = {}): string {
  return serialize('', { ...readOptions('endedSessionCookie', options), maxAgeSeconds: 0 });
}

function readOptions(caller: string, options: SessionCookieOptions): CookieSettings {
  const { name = '__Host-session', sameSite = 'lax', path = '/', secure = true, ...others } = options;
  if (!isCookieName(name))
    return reject(caller, 'name is not the name of a cookie', "Give it one as in '__Host-session'");
  const settings = { ...others, name, sameSite, path, secure };
  const problem = problemsOf(settings).find(([isProblem]) => isProblem);
  return problem ? reject(caller, problem[1], problem[2]) : settings;
}

function reject(caller: string, problem: string, remedy: string): never {
  throw new InvalidConfigurationError(`${caller}(): ${problem}. ${remedy}.`);
}

function serialize(
  value: string,
  { name, sameSite, maxAgeSeconds, domain, path, secure }: CookieSettings,
): string {
  const attributes = [
    `${name}=${value}`,
    `Path=${path}`,
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    ...(maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`]),
    'HttpOnly',
    ...(secure ? ['Secure'] : []),
    `SameSite=${SAME_SITE[sameSite]}`,
  ];
  return attributes.join('; ');
}

const OPTIONS = ['name', 'sameSite', 'maxAgeSeconds', 'domain', 'path', 'secure'];
/** Browsers cut a longer lifetime to this (RFC 6265bis, section 5.5). */
const MAX_AGE_SECONDS = 34_560_000;
/** Browsers ignore a longer attribute (RFC 6265bis, section 5.6). */
const MAX_ATTRIBUTE = 1024;
/** Two labels at least: browsers accept no cookie for a top-level domain. */
const DOMAIN = /^[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+$/i;
const PATH = /^\/[\x21-\x3a\x3c-\x7e]*$/;
const HOST_PREFIX = /^__Host-/i;
/** Includes `__Http-`. `__Host-` begins alike, and needs more. */
const SECURE_PREFIX = /^__(?:Secure|Http)-/i;

type Problem = readonly [isProblem: boolean, text: string, remedy: string];

/** Invalid options, and combinations for which browsers drop the cookie. */
function problemsOf(settings: CookieSettings): readonly Problem[] {
  const { name, sameSite, maxAgeSeconds, domain, path, secure } = settings;
  const unknown = Object.keys(settings).find((option) => !OPTIONS.includes(option));
  const isHost = HOST_PREFIX.test(name);
  const dropped = `browsers drop ${name}`;
  const remedy = 'Change the option, or the name';
  return [
    [unknown !== undefined, `${unknown} is not an option`, `Valid options: ${OPTIONS.join(', ')}`],
    [!Object.hasOwn(SAME_SITE, sameSite), "sameSite must be 'strict', 'lax' or 'none'", 'Choose one'],
    [typeof secure !== 'boolean', 'secure must be a boolean', 'Set true or false'],
    [
      maxAgeSeconds !== undefined && !isLifetime(maxAgeSeconds),
      `maxAgeSeconds must be an integer from 1 to ${MAX_AGE_SECONDS}`,
      'Set it within that range',
    ],
    [
      domain !== undefined && !matches(DOMAIN, domain),
      'domain is not a domain name',
      "Write it as in 'example.com', without a scheme, a port and a leading dot",
    ],
    [!matches(PATH, path), 'path is not a path', "Start it with '/', without spaces and ';'"],
    [isHost && domain !== undefined, `${dropped} with a domain`, remedy],
    [isHost && path !== '/', `${dropped} with another path than '/'`, remedy],
    [(isHost || SECURE_PREFIX.test(name)) && !secure, `${dropped} without secure`, remedy],
    [
      sameSite === 'none' && !secure,
      "browsers drop a cookie that has sameSite 'none' without secure",
      'Set secure: true',
    ],
  ];
}

function isLifetime(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_AGE_SECONDS;
}

function matches(form: RegExp, value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_ATTRIBUTE && form.test(value);
}
