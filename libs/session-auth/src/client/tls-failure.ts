/** Codes of Node.js for a certificate that is not accepted, and for a failed handshake. */
const TLS_CODE = /^[A-Z0-9_]*(?:CERT|SELF_SIGNED|UNABLE_TO_)[A-Z0-9_]*$|^ERR_SSL_[A-Z0-9_]+$|^EPROTO$/;

/** Returns whether an error code of Node.js is one of TLS. */
export function isTlsCode(code: string): boolean {
  return TLS_CODE.test(code);
}

/**
 * Receives the code of Node.js for a TLS connection that failed, such as `CERT_HAS_EXPIRED`. Called each
 * time.
 */
export type TlsFailed = (code: string) => void;

/** Reports a connection that failed because of TLS. Does nothing for any other error. */
export function reportTlsFailure(error: unknown, report: TlsFailed | undefined): void {
  const { code } = Object(error) as { readonly code?: unknown };
  if (report && typeof code === 'string' && isTlsCode(code)) report(code);
}
