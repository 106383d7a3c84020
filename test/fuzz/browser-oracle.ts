import { COOKIE, HEADER, TRUSTED, type BrowserCase } from './browser-case.js';

/** The token of a call, or the reason why no call to the service is made. */
export type Presented = { readonly token: string } | 'no token' | 'malformed token' | 'cross-origin';

/** A header token: visible ASCII. */
const TOKEN = /^[!-~]{1,4096}$/;
/** An origin as a browser writes it (Fetch, section 3.2), without user information, path or upper case. */
const ORIGIN = /^(https?):\/\/([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?$/;
const HOST_PORT = /^([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * The expected outcomes of a call, several if the rules leave it open, by docs/browsers.md, docs/websockets.md and the algorithm of Go's
 * `CrossOriginProtection`. Reads the header lines as sent, and knows nothing of the library.
 */
export function permittedFor(one: BrowserCase): readonly Presented[] {
  const own = one.kind === 'fields' ? fieldsOf(one.fields) : new Map<string, unknown[]>();
  const iv = own.get('x-auth-iv');
  const hasOddIv = iv !== undefined && typeof presented(iv) === 'string';
  // The IV goes to the service with the token, so that an odd one spoils a token.
  return tokenOf(one, own).map((found) =>
    hasOddIv && typeof found !== 'string' ? 'malformed token' : found,
  );
}

function tokenOf(
  { kind, method, lines }: BrowserCase,
  own: ReadonlyMap<string, unknown[]>,
): readonly Presented[] {
  // A header takes precedence over a field of its name, and that over `token`. `null` is no value. No field
  // is a cookie, or says whose page it is.
  for (const found of [listOf(valuesOf(lines, HEADER)), own.get(HEADER.toLowerCase()), own.get('token')])
    if (found && !isNull(found)) return [presented(found)];
  return cookieOf(valuesOf(lines, 'Cookie'), originOf(kind, method, lines));
}

type Judged = 'own' | 'foreign' | 'unclear';

function cookieOf(values: readonly string[], judged: Judged): readonly Presented[] {
  const found = values
    .flatMap((value) => value.split(';').map(trimmed))
    .filter((pair) => pair.startsWith(`${COOKIE}=`))
    .map((pair) => pair.slice(COOKIE.length + 1));
  if (found.join() === '' && found.length < 2) return ['no token'];
  const admitted = presented(found);
  if (judged === 'own') return [admitted];
  return judged === 'foreign' ? ['cross-origin'] : [admitted, 'cross-origin'];
}

/** Whose page sent the call. Without any word of a browser, it is no page's. */
function originOf(kind: BrowserCase['kind'], method: string, lines: BrowserCase['lines']): Judged {
  const modes = valuesOf(lines, 'Sec-Fetch-Mode');
  const opensSocket = kind !== 'request' || modes.some((mode) => mode.toLowerCase() === 'websocket');
  if (!opensSocket && ['GET', 'HEAD', 'OPTIONS'].includes(method)) return 'own';
  const [origins, sites] = [valuesOf(lines, 'Origin'), valuesOf(lines, 'Sec-Fetch-Site')];
  if (origins.length === 1 && origins[0] === TRUSTED) return 'own';
  if (sites.length > 0) {
    if (!sites.every((site) => site === 'same-origin' || site === 'none')) return 'foreign';
    if (sites.length > 1) return 'unclear';
    if (!opensSocket) return 'own';
  }
  if (origins.length === 0) return 'own';
  return origins.length === 1 ? judge(origins[0] ?? '', valuesOf(lines, 'Host')[0] ?? '') : 'foreign';
}

function judge(origin: string, host: string): Judged {
  const [, scheme = '', name = '', port = DEFAULT_PORTS[scheme]] = ORIGIN.exec(origin) ?? [];
  const [, ownName = '', ownPort = DEFAULT_PORTS[scheme]] = HOST_PORT.exec(host.toLowerCase()) ?? [];
  if (name === '' || ownName === '') return 'foreign';
  const isWritten = port !== DEFAULT_PORTS[scheme] || !origin.endsWith(`:${port ?? ''}`);
  return isWritten && name === ownName && port === ownPort ? 'own' : 'foreign';
}

function presented(values: readonly unknown[]): Presented {
  const [value] = values;
  if (values.length > 1) return 'malformed token';
  if (value === '' || value === null || value === undefined) return 'no token';
  return typeof value === 'string' && TOKEN.test(value) ? { token: value } : 'malformed token';
}

function isNull(values: readonly unknown[]): boolean {
  return values.length === 1 && values[0] === null;
}

function listOf(values: readonly string[]): readonly string[] | undefined {
  return values.length > 0 ? values : undefined;
}

/** Values of a header, without the blanks around them (RFC 9110, section 5.5). */
function valuesOf(lines: BrowserCase['lines'], name: string): string[] {
  return lines.filter(([one]) => one.toLowerCase() === name.toLowerCase()).map(([, value]) => trimmed(value));
}

export function trimmed(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}

/** Fields by their names in lower case; of more than 256 none. */
function fieldsOf(fields: unknown): Map<string, unknown[]> {
  const named = new Map<string, unknown[]>();
  if (typeof fields !== 'object' || fields === null) return named;
  const entries = Object.entries(fields);
  if (entries.length > 256) return named;
  for (const [name, value] of entries)
    named.set(name.toLowerCase(), [...(named.get(name.toLowerCase()) ?? []), value]);
  return named;
}
