import { AUTHORITY_NAME_FORM, DEFAULT_AUTHORITY, isAuthorityName } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { isPlainTextBeyondLoopback } from '../module/settings/option-kinds.js';

/** Where a session may be sent. */
export interface RelayTargets {
  /**
   * Origins: scheme, host and port, as in `https://payroll.internal` or `https://payroll.internal:8443`.
   * Exact: no wildcards, no subdomains, no path.
   */
  readonly to: readonly (string | URL)[];
  /**
   * Allows `http:` origins beyond loopback, where the network encrypts below HTTP, as a service mesh does:
   * otherwise anyone on the way reads the token. @default false
   */
  readonly allowPlainHttp?: boolean;
  /**
   * Name of the authority whose sessions are sent. A session of another authority is not: it belongs to
   * another session service.
   * @default 'default' (the default authority)
   */
  readonly authority?: string;
}

export function targetOf(origin: string | undefined, authority: string): string {
  return `${authority} ${origin}`;
}

const EXAMPLE = "Give it a scheme, a host and a port, as in 'https://payroll.internal:8443'";
/** A scheme, a host and a port, and at most the slash that `URL` adds. No user info: no `@`. */
const ORIGIN = /^https?:\/\/[^\s\\/?#@]+\/?$/i;

/** @throws InvalidConfigurationError naming the first invalid origin */
export function readTargets(method: string, targets: RelayTargets): string[] {
  const {
    to,
    allowPlainHttp = false,
    authority = DEFAULT_AUTHORITY,
  } = (targets as Partial<RelayTargets> | undefined) ?? {};
  if (!isAuthorityName(authority))
    return reject(
      method,
      'authority',
      `must be the name of an authority: ${AUTHORITY_NAME_FORM}`,
      'Correct it',
    );
  if (!Array.isArray(to) || to.length === 0)
    return reject(method, 'to', 'must be a list of at least one origin', EXAMPLE);
  return to.map((target: unknown, index) =>
    targetOf(readOrigin(method, `to[${index}]`, target, allowPlainHttp), authority),
  );
}

function readOrigin(method: string, name: string, target: unknown, allowPlainHttp: boolean): string {
  const text = target instanceof URL ? target.href : target;
  if (typeof text !== 'string') return reject(method, name, 'must be a string or a URL', EXAMPLE);
  // Not printed: it may be a password.
  if (text.includes('@')) return reject(method, name, 'must not hold a user or a password', EXAMPLE);
  const named = `${name}, ${JSON.stringify(text)},`;
  if (text.includes('*')) return reject(method, named, 'has a wildcard', 'Name each origin');
  if (!ORIGIN.test(text) || !URL.canParse(text)) return reject(method, named, 'is not an origin', EXAMPLE);
  const { origin } = new URL(text);
  if (allowPlainHttp || !isPlainTextBeyondLoopback(origin)) return origin;
  return reject(
    method,
    named,
    'would carry sessions unencrypted',
    'Use https, or set allowPlainHttp: true if the network encrypts them',
  );
}

function reject(method: string, name: string, problem: string, remedy: string): never {
  throw new InvalidConfigurationError(`SessionRelay.${method}: ${name} ${problem}. ${remedy}.`);
}

/**
 * Returns the origin of an absolute URL of http or https; `undefined` for any other. `URL.origin` of a
 * `blob:` URL is that of another URL.
 */
export function originOf(url: unknown): string | undefined {
  if (!(url instanceof URL) && !(typeof url === 'string' && URL.canParse(url))) return undefined;
  const { protocol, origin } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}
