import { describe, expect, it } from '@jest/globals';
import { reportTlsFailure } from './tls-failure.js';

describe('a connection that fails', () => {
  const reported = (error: unknown): string[] => {
    const codes: string[] = [];
    reportTlsFailure(error, (code) => codes.push(code));
    return codes;
  };
  const withCode = (code: unknown): Error => Object.assign(new Error('failed'), { code });

  it.each([
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'EPROTO',
  ])('is reported with %s', (code) => {
    expect(reported(withCode(code))).toEqual([code]);
  });

  it.each([withCode('ECONNREFUSED'), withCode('UND_ERR_SOCKET'), withCode('CERT\nforged'), withCode(7), new Error('CERT'), undefined])(
    'is not reported as a failure of TLS: %p',
    (error) => {
      expect(reported(error)).toEqual([]);
    },
  );
});
