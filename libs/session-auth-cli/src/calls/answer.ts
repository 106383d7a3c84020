import type { IncomingHttpHeaders } from 'node:http';
import { parseObject } from '../../../session-auth/src/contract/wire.js';
import type { Reply } from '../../../session-auth/src/client/reply.js';

export interface ReplyAnswer extends Reply {
  readonly kind: 'reply';
  readonly headers: IncomingHttpHeaders & Readonly<Record<string, unknown>>;
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** Whether the connection is one of an earlier call. */
  readonly reused: boolean;
}

/** The code of a call that the user ended. */
export const INTERRUPTED = 'INTERRUPTED';

export interface FailedAnswer {
  readonly kind: 'failure';
  /** `TIMEOUT`, `TOO_LARGE`, `INTERRUPTED`, or a code of Node.js. */
  readonly code: string;
  readonly reused: boolean;
  readonly isSignIn: boolean;
}

export type Answer = ReplyAnswer | FailedAnswer;

export function statusOf(answer: Answer): number | undefined {
  return answer.kind === 'reply' ? answer.status : undefined;
}

export function hasBody({ body }: Reply): boolean {
  return body?.length !== 0;
}

/** The name of a reply in a text, such as `404 with a body`. */
export function described(answer: Answer): string {
  if (answer.kind === 'failure') return `no reply (${answer.code})`;
  return answer.status === 404 && hasBody(answer) ? '404 with a body' : String(answer.status);
}

/** Whether two answers look the same to the guard: a 404 with a body differs from an empty one. */
export function isSame(one: Answer, other: Answer): boolean {
  return described(one) === described(other);
}

const HTML = /^\s*(?:<!doctype html|<html|<head|<body)/i;

export function isWebPage({ headers, body }: Reply): boolean {
  const type = headers['content-type'];
  return (
    (typeof type === 'string' && /^text\/html/i.test(type)) ||
    HTML.test(body?.toString('latin1', 0, 200) ?? '')
  );
}

export function isRedirect({ status }: Reply): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** From a body of any type, so that a session can be ended even if the library can't read its record. */
export function tokenIn({ body }: ReplyAnswer): string | undefined {
  const { auth_token: token } = parseObject(body?.toString() ?? '') ?? {};
  return typeof token === 'string' ? token : undefined;
}

const TEXTS: readonly (readonly [codes: RegExp, text: string])[] = [
  [
    /^ENOTFOUND$|^EAI_/,
    'The host name does not resolve. Check the host of --url and the DNS of this machine.',
  ],
  [
    /^ECONNREFUSED$/,
    'The connection is refused: nothing listens on that port. Check the port of --url, and whether the service runs.',
  ],
  [
    /^(?:ECONNRESET|EPIPE)$/,
    'The connection is reset before the reply is complete. Check scheme and port of --url, and the proxies on the way.',
  ],
  [
    /^(?:TIMEOUT|ETIMEDOUT)$/,
    'There is no complete reply within --timeout. Check the network path and the load of the service.',
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EPERM)$/,
    'There is no route to the host, or a firewall forbids it.',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'The certificate is for another host name. Use the host name of the certificate in baseUrl.',
  ],
  [/^CERT_HAS_EXPIRED$/, 'The certificate has expired. Renew it.'],
  [/^CERT_NOT_YET_VALID$/, 'The certificate is not valid yet. Check the clocks of both machines.'],
  [
    /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)/,
    'The certificate is of an authority that Node.js does not trust. Set NODE_EXTRA_CA_CERTS to the certificate of the authority, or http.httpsAgent.',
  ],
  [
    /^ERR_SSL_|^EPROTO$/,
    'The TLS handshake fails. Check that the port speaks https; for a client certificate, set http.httpsAgent.',
  ],
  [/^INTERRUPTED$/, 'The call was interrupted.'],
  [/^TOO_LARGE$/, 'The reply is larger than 4 MiB. This is not the session service.'],
  [/^HPE_HEADER_OVERFLOW$/, 'The headers of the reply are larger than 16 KiB, which the library refuses.'],
  [
    /^(?:HPE_|INVALID_REPLY)/,
    'The reply is not valid HTTP. Check that scheme and port of --url fit together.',
  ],
];

/** Failures of a request that may have reached the service. */
const MAY_BE_SENT = /^(?:TIMEOUT|ECONNRESET|EPIPE|TOO_LARGE|HPE_.*|INVALID_REPLY)$/;

/** Appended to the text of a sign-in that may have opened a session without returning its token. */
export const MAY_BE_OPEN = ' A session may have been opened; its token is unknown.';

export function failureText({ code, isSignIn }: FailedAnswer): string {
  const [, text = 'The connection fails.'] = TEXTS.find(([codes]) => codes.test(code)) ?? [];
  return `${text} (${code})${isSignIn && MAY_BE_SENT.test(code) ? MAY_BE_OPEN : ''}`;
}
