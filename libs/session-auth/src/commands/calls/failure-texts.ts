import { isTlsCode } from '../../client/http/tls-failure.js';
import type { FailedAnswer } from './answer.js';

/** The meanings of error codes of Node.js, each with a remedy. */
const TEXTS: readonly (readonly [codes: RegExp, text: string])[] = [
  [/^ENOTFOUND$|^EAI_/, 'The host name does not resolve. Check the host of --url and the DNS of this machine.'],
  [/^ECONNREFUSED$/, 'The connection is refused: nothing listens on that port. Check the port of --url, and whether the service runs.'],
  [
    /^(?:ECONNRESET|EPIPE)$/,
    'The connection is reset before the reply is complete. Check scheme and port of --url, and the proxies on the way.',
  ],
  [/^(?:TIMEOUT|ETIMEDOUT)$/, 'There is no complete reply within --timeout. Check the network path and the load of the service.'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EPERM)$/, 'There is no route to the host, or a firewall forbids it.'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'The certificate is for another host name. Use the host name of the certificate in baseUrl.'],
  [/^CERT_HAS_EXPIRED$/, 'The certificate has expired. Renew it.'],
  [/^CERT_NOT_YET_VALID$/, 'The certificate is not valid yet. Check the clocks of both machines.'],
  [
    /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)/,
    'The certificate is of an authority that Node.js does not trust. Set NODE_EXTRA_CA_CERTS to the certificate of the authority, or http.httpsAgent.',
  ],
  [/^ERR_SSL_|^EPROTO$/, 'The TLS handshake fails. Check that the port speaks https; for a client certificate, set http.httpsAgent.'],
  [/^INTERRUPTED$/, 'The call was interrupted.'],
  [/^TOO_LARGE$/, 'The reply is larger than 4 MiB. This is not the session service.'],
  [/^HPE_HEADER_OVERFLOW$/, 'The headers of the reply are larger than 16 KiB, which the library refuses.'],
  [/^(?:HPE_|INVALID_REPLY)/, 'The reply is not valid HTTP. Check that scheme and port of --url fit together.'],
];

const OTHERWISE = 'The connection fails.';

/** Returns the meaning of a failure, with the remedy. */
export function failureText({ code }: FailedAnswer): string {
  const [, text = OTHERWISE] = TEXTS.find(([codes]) => codes.test(code)) ?? [];
  return `${text} (${code})`;
}

/** Returns whether a failure is one of TLS. */
export function isTlsFailure({ code }: FailedAnswer): boolean {
  return isTlsCode(code);
}
