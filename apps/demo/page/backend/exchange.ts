const SHOWN_HEADERS = [
  'X-Answered-By',
  'Content-Type',
  'WWW-Authenticate',
  'Retry-After',
  'Cache-Control',
  'Vary',
];

/** A request as the page sends it. */
export interface Call {
  /** The route that the path belongs to: `POST /api/openings/:id/approval`. */
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly token?: string | undefined;
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** A request and its reply as text that is safe to show: without tokens and passwords. */
export interface Exchange {
  /** Later calls have higher numbers. */
  readonly number: number;
  readonly route: string;
  readonly withToken: boolean;
  readonly request: string;
  /** 0: no reply. */
  readonly status: number;
  readonly statusText: string;
  readonly headers: string;
  readonly body: string;
  /** Who answered the check of the session, as the demo says; absent if there was no check. */
  readonly answeredBy?: string;
  /** The stable code of a denial. */
  readonly code?: string;
  readonly retryAfter?: string;
  readonly tookMs: number;
}

/** The result of a call. */
export interface Outcome {
  readonly exchange: Exchange;
  /** The parsed body of the reply; undefined if it is not JSON. */
  readonly json: unknown;
}

let calls = 0;

/** Sends a call. Never rejects: a network failure is an outcome too. */
export async function send(call: Call): Promise<Outcome> {
  const number = ++calls;
  const start = performance.now();
  const reply = await fetch(call.path, requestOf(call)).catch(() => undefined);
  const text = await reply?.text().catch(() => undefined);
  const tookMs = performance.now() - start;
  const sent = {
    number,
    route: call.route,
    withToken: call.token !== undefined,
    request: requestText(call),
    tookMs,
  };
  if (!reply || text === undefined)
    return {
      exchange: { ...sent, status: 0, statusText: 'No reply', headers: '', body: '' },
      json: undefined,
    };
  const json = parse(text);
  const code = stringField(json, 'code');
  const retryAfter = reply.headers.get('Retry-After');
  const answeredBy = reply.headers.get('X-Answered-By');
  const exchange = {
    ...sent,
    ...(answeredBy !== null && { answeredBy }),
    status: reply.status,
    statusText: `${reply.status} ${reply.statusText}`.trim(),
    headers: headersText(reply.headers),
    body: hide(json === undefined ? text : JSON.stringify(json, null, 2), [
      call.token,
      stringField(json, 'token'),
    ]),
    ...(code !== undefined && { code }),
    ...(retryAfter !== null && { retryAfter }),
  };
  return { exchange, json };
}

/** Returns a field of a parsed body if it is a string. */
export function stringField(json: unknown, name: string): string | undefined {
  const value: unknown = typeof json === 'object' && json !== null ? Reflect.get(json, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

function requestOf({ method, token, credentials }: Call): RequestInit {
  return {
    method,
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      ...(token !== undefined && { 'X-AUTH-TOKEN': token }),
      ...(credentials && { 'content-type': 'application/json' }),
    },
    ...(credentials && { body: JSON.stringify(credentials) }),
  };
}

function requestText({ method, path, token, credentials }: Call): string {
  const lines = [`${method} ${path}`, 'Accept: application/json'];
  if (token !== undefined) lines.push(`X-AUTH-TOKEN: ${mask(token)}`);
  if (credentials)
    lines.push('Content-Type: application/json', '', JSON.stringify({ ...credentials, password: '••••••' }));
  return lines.join('\n');
}

function headersText(headers: Headers): string {
  return SHOWN_HEADERS.flatMap((name) =>
    headers.has(name) ? [`${name}: ${headers.get(name) ?? ''}`] : [],
  ).join('\n');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function mask(token: string): string {
  return `${token.slice(0, 4)}…`;
}

function hide(text: string, tokens: readonly (string | undefined)[]): string {
  return tokens.reduce<string>(
    (hidden, token) => (token ? hidden.replaceAll(token, mask(token)) : hidden),
    text,
  );
}
