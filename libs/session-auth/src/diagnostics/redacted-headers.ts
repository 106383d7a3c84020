import { API_KEY_HEADER, AUTH_IV_HEADER, AUTH_TOKEN_HEADER } from '../contract/wire.js';

/** A token source: its `header` names the request header that it reads. */
type Source = { readonly header?: string } | ((...call: never[]) => unknown);

/** Headers that carry a key, a token or an IV, whatever the options are. */
const SECRET_HEADERS = [
  AUTH_TOKEN_HEADER,
  AUTH_IV_HEADER,
  API_KEY_HEADER,
  'Authorization',
  'Cookie',
  'Set-Cookie',
];

/**
 * Returns the paths of the headers that carry a secret, in requests and responses as pino-http and
 * nestjs-pino log them: for the option `redact` of pino. Includes `X-AUTH-TOKEN`, `X-AUTH-IV`, `X-API-KEY`,
 * `Authorization`, `Cookie` and `Set-Cookie`.
 *
 * @example
 * ```ts
 * const options = { pinoHttp: { redact: redactedHeaders('x-partner-token') } }; // of LoggerModule.forRoot()
 * ```
 *
 * @param more further headers: names, or the token sources of the option `token` that read them
 */
export function redactedHeaders(...more: readonly (string | Source)[]): string[] {
  const names = more.flatMap((header) =>
    typeof header === 'string' ? header : ((header as { readonly header?: string }).header ?? []),
  );
  const headers = new Set([...SECRET_HEADERS, ...names].map((name) => name.toLowerCase()));
  return ['req', 'res'].flatMap((message) =>
    [...headers].map((header) => `${message}.headers[${JSON.stringify(header)}]`),
  );
}
