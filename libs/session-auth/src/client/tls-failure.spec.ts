import { describe, expect, it } from '@jest/globals';
import { isTlsCode, reportFailure } from './reply.js';

describe('a connection that fails', () => {
  const reported = (error: unknown): string[] => {
    const codes: string[] = [];
    reportFailure(error, (code) => codes.push(code));
    return codes;
  };
  const withCode = (code: unknown): Error => Object.assign(new Error('failed'), { code });

  it.each([
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'EPROTO',
  ])('is reported with %s', (code) => {
    expect([reported(withCode(code)), isTlsCode(code)]).toEqual([[code], true]);
  });

  it.each(['ECONNREFUSED', 'UND_ERR_SOCKET', 'ERR_SSL_', 'EPROTOTYPE'])(
    'is reported with %s, which is none of TLS',
    (code) => {
      expect([reported(withCode(code)), isTlsCode(code)]).toEqual([[code], false]);
    },
  );

  it.each([
    ...['', 7, ['EPROTO'], 'of the service', `E${'X'.repeat(100)}`].map(withCode),
    ...['CERT', 'ERR_SSL_X', 'EPROTO'].flatMap((code) => [
      withCode(`${code}\nforged`),
      withCode(`forged\n${code}`),
    ]),
    new Error('CERT'),
    undefined,
    null,
  ])('is not reported without a code of Node.js: %p', (error) => {
    expect(reported(error)).toEqual([]);
  });

  it('does nothing if it is not to be reported', () => {
    expect(() => reportFailure(withCode('EPROTO'), undefined)).not.toThrow();
  });
});
