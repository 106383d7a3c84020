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
 * ```ts
 * reply.header('set-cookie', sessionCookie(result.token));
 * // __Host-session=…; Path=/; HttpOnly; Secure; SameSite=Lax
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
  const problem = cookieProblem(settings);
  return problem ? reject(caller, problem.text, problem.remedy) : settings;
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

interface Problem {
  readonly text: string;
  readonly remedy: string;
}

const OPTIONS = ['name', 'sameSite', 'maxAgeSeconds', 'domain', 'path', 'secure'];
const SAME_SITES = ['strict', 'lax', 'none'];
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

/**
 * Returns the first option that is invalid, or that a browser would drop the cookie for; `undefined` if there
 * is none.
 */
function cookieProblem(settings: CookieSettings): Problem | undefined {
  return formProblem(settings) ?? prefixProblem(settings) ?? crossSiteProblem(settings);
}

function formProblem(settings: CookieSettings): Problem | undefined {
  const { sameSite, maxAgeSeconds, domain, path, secure } = settings;
  const unknown = Object.keys(settings).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    return { text: `${unknown} is not an option`, remedy: `Valid options: ${OPTIONS.join(', ')}` };
  if (!SAME_SITES.includes(sameSite))
    return { text: "sameSite must be 'strict', 'lax' or 'none'", remedy: 'Choose one' };
  if (typeof secure !== 'boolean') return { text: 'secure must be a boolean', remedy: 'Set true or false' };
  if (maxAgeSeconds !== undefined && !isLifetime(maxAgeSeconds))
    return {
      text: `maxAgeSeconds must be an integer from 1 to ${MAX_AGE_SECONDS}`,
      remedy: 'Set it within that range',
    };
  if (domain !== undefined && !matches(DOMAIN, domain))
    return {
      text: 'domain is not a domain name',
      remedy: "Write it as in 'example.com', without a scheme, a port and a leading dot",
    };
  if (!matches(PATH, path))
    return { text: 'path is not a path', remedy: "Start it with '/', without spaces and ';'" };
  return undefined;
}

function prefixProblem({ name, domain, path, secure }: CookieSettings): Problem | undefined {
  const remedy = 'Change the option, or the name';
  if (HOST_PREFIX.test(name) && domain !== undefined)
    return { text: `browsers drop ${name} with a domain`, remedy };
  if (HOST_PREFIX.test(name) && path !== '/')
    return { text: `browsers drop ${name} with another path than '/'`, remedy };
  if ((HOST_PREFIX.test(name) || SECURE_PREFIX.test(name)) && !secure)
    return { text: `browsers drop ${name} without secure`, remedy };
  return undefined;
}

function crossSiteProblem({ sameSite, secure }: CookieSettings): Problem | undefined {
  if (sameSite !== 'none' || secure) return undefined;
  return {
    text: "browsers drop a cookie that has sameSite 'none' without secure",
    remedy: 'Set secure: true',
  };
}

function isLifetime(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_AGE_SECONDS;
}

function matches(form: RegExp, value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_ATTRIBUTE && form.test(value);
}
