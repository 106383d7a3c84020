import { describe, expect, it } from '@jest/globals';
import { reportTlsFailure } from './reply.js';

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

  it.each([
    ...['ECONNREFUSED', 'UND_ERR_SOCKET', 'ERR_SSL_', 'EPROTOTYPE', '', 7, ['EPROTO']].map(withCode),
    ...['CERT', 'ERR_SSL_X', 'EPROTO'].flatMap((code) => [
      withCode(`${code}\nforged`),
      withCode(`forged\n${code}`),
    ]),
    new Error('CERT'),
    undefined,
    null,
  ])('is not reported as a failure of TLS: %p', (error) => {
    expect(reported(error)).toEqual([]);
  });

  it('does nothing if it is not to be reported', () => {
    expect(() => reportTlsFailure(withCode('EPROTO'), undefined)).not.toThrow();
  });
});
