import { InvalidConfigurationError } from '../contract/errors.js';
import { isHeaderValue } from '../contract/wire.js';
import { isCookieName } from '../guard/session/source-names.js';
import type { CookieSettings, SameSite, SessionCookieOptions } from './cookie-options.js';
import { cookieProblem } from './cookie-problems.js';

/** Browsers drop a cookie whose name and value are longer (RFC 6265bis, section 5.6). */
const MAX_BYTES = 4096;
const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const satisfies Record<SameSite, string>;

/**
 * Returns the `Set-Cookie` header that gives a session to a browser, after a sign-in. Always `HttpOnly`: scripts can't read it.
 *
 * ```ts
 * reply.header('set-cookie', sessionCookie(result.token));
 * // __Host-session=…; Path=/; HttpOnly; Secure; SameSite=Lax
 * ```
 * @throws InvalidConfigurationError if browsers would drop the cookie, or the token can't be in one. The message does not contain the token
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

/** Returns the `Set-Cookie` header that removes the cookie, after a sign-out. Needs the options of {@link sessionCookie}. */
export function endedSessionCookie(options: SessionCookieOptions = {}): string {
  return serialize('', { ...readOptions('endedSessionCookie', options), maxAgeSeconds: 0 });
}

function readOptions(caller: string, options: SessionCookieOptions): CookieSettings {
  const { name = '__Host-session', sameSite = 'lax', path = '/', secure = true, ...others } = options;
  if (!isCookieName(name)) return reject(caller, 'name is not the name of a cookie', "Give it one as in '__Host-session'");
  const settings = { ...others, name, sameSite, path, secure };
  const problem = cookieProblem(settings);
  return problem ? reject(caller, problem.text, problem.remedy) : settings;
}

function reject(caller: string, problem: string, remedy: string): never {
  throw new InvalidConfigurationError(`${caller}(): ${problem}. ${remedy}.`);
}

function serialize(value: string, { name, sameSite, maxAgeSeconds, domain, path, secure }: CookieSettings): string {
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
