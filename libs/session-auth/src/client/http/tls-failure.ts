/** Codes of Node.js for a certificate that is not accepted, and for a failed handshake. */
const TLS_CODE = /^[A-Z0-9_]*(?:CERT|SELF_SIGNED|UNABLE_TO_)[A-Z0-9_]*$|^ERR_SSL_[A-Z0-9_]+$|^EPROTO$/;

/** Receives the code of Node.js for a TLS connection that failed, such as `CERT_HAS_EXPIRED`. Called each time. */
export type TlsFailed = (code: string) => void;

/** Reports a connection that failed because of TLS. Does nothing for any other error. */
export function reportTlsFailure(error: unknown, report: TlsFailed | undefined): void {
  const { code } = Object(error) as { readonly code?: unknown };
  if (report && typeof code === 'string' && TLS_CODE.test(code)) report(code);
}
