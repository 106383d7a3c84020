import { isWebOrigin } from './cross-origin.js';

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

/** Returns the trusted origins of options, or what is wrong with the options: a problem and its remedy. */
export function readTrustedOrigins(
  options: unknown,
): ReadonlySet<string> | { readonly problem: string; readonly remedy: string } {
  if (typeof options !== 'object' || options === null)
    return { problem: 'options that are not an object', remedy: `It may hold ${OPTION}` };
  const unknown = Object.keys(options).find((name) => name !== OPTION);
  if (unknown !== undefined)
    return {
      problem: `${JSON.stringify(unknown)}, which is not an option`,
      remedy: `The option is ${OPTION}`,
    };
  const { trustedOrigins: origins = [] } = options as CrossOriginOptions;
  if (!Array.isArray(origins)) return { problem: `${OPTION} that is not a list`, remedy: REMEDY };
  const index = origins.findIndex((origin: unknown) => !isOrigin(origin));
  if (index === -1) return new Set(origins);
  return { problem: `${OPTION}[${index}]${nameOf(origins[index])} that is not an origin`, remedy: REMEDY };
}

function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('*') && (isWebOrigin(value) || OWN_SCHEME.test(value));
}

/** Not printed with user info: it may be a password. */
function nameOf(value: unknown): string {
  return typeof value === 'string' && !value.includes('@') ? `, ${JSON.stringify(value)},` : '';
}
