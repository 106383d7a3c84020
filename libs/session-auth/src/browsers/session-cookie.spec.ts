import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import { fromCookie } from '../guard/token-source.js';
import type { SessionCookieOptions } from './cookie-options.js';
import { endedSessionCookie, sessionCookie } from './session-cookie.js';

const CHANGE = 'Change the option, or the name.';

describe('the cookie of a session', () => {
  it.each<[SessionCookieOptions, string]>([
    [{}, '__Host-session=t; Path=/; HttpOnly; Secure; SameSite=Lax'],
    [{ name: '__Host-sid', sameSite: 'strict' }, '__Host-sid=t; Path=/; HttpOnly; Secure; SameSite=Strict'],
    [
      { sameSite: 'none', maxAgeSeconds: 3600 },
      '__Host-session=t; Path=/; Max-Age=3600; HttpOnly; Secure; SameSite=None',
    ],
    [
      { name: '__Secure-sid', domain: 'example.com', path: '/api' },
      '__Secure-sid=t; Path=/api; Domain=example.com; HttpOnly; Secure; SameSite=Lax',
    ],
    [{ name: 'sid', secure: false }, 'sid=t; Path=/; HttpOnly; SameSite=Lax'],
  ])('with the options %j is %s', (options, expected) => {
    expect(sessionCookie('t', options)).toBe(expected);
  });

  it.each<[SessionCookieOptions]>([
    ...[1, 34_560_000].map((maxAgeSeconds): [SessionCookieOptions] => [{ maxAgeSeconds }]),
    ...['a.b', 'x.example.com', 'my-app.example-1.com', '1a.2b'].map((domain): [SessionCookieOptions] => [
      { name: 'x', domain },
    ]),
    [{ name: 'x', path: `/${'a'.repeat(1_023)}` }],
    [{ name: 'x__Host-', path: '/api', secure: false }],
    [{ name: 'x__Secure-', secure: false }],
  ])('may have the options %j', (options) => {
    expect(sessionCookie('t', options)).toMatch(/^[^=]+=t; /);
  });

  it('is removed with the same attributes', () => {
    expect(endedSessionCookie()).toBe('__Host-session=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax');
    expect(endedSessionCookie({ name: 'sid', domain: 'example.com', maxAgeSeconds: 60 })).toBe(
      'sid=; Path=/; Domain=example.com; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
    );
  });

  it('comes back to fromCookie() as the same token, whatever the token is', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-:<-~]{1,200}$/), (token) => {
        const [pair = ''] = sessionCookie(token).split('; ');
        const request = { method: 'GET', headers: { cookie: `a=b; ${pair}; c=d` } };
        expect(fromCookie('__Host-session')({} as ExecutionContext, request)).toBe(token);
      }),
    );
  });

  it.each<[SessionCookieOptions, string]>([
    ...['', 'a=b', 'a;b', 'a\r\nx'].map((name): [SessionCookieOptions, string] => [
      { name },
      "name is not the name of a cookie. Give it one as in '__Host-session'.",
    ]),
    [{ domain: 'example.com' }, `browsers drop __Host-session with a domain. ${CHANGE}`],
    [{ name: '__host-x', domain: 'example.com' }, `browsers drop __host-x with a domain. ${CHANGE}`],
    [{ path: '/api' }, `browsers drop __Host-session with another path than '/'. ${CHANGE}`],
    [{ secure: false }, `browsers drop __Host-session without secure. ${CHANGE}`],
    [{ name: '__Secure-x', secure: false }, `browsers drop __Secure-x without secure. ${CHANGE}`],
    [{ name: '__http-x', secure: false }, `browsers drop __http-x without secure. ${CHANGE}`],
    [
      { name: 'x', sameSite: 'none', secure: false },
      "browsers drop a cookie that has sameSite 'none' without secure. Set secure: true.",
    ],
    [{ sameSite: 'Lax' as 'lax' }, "sameSite must be 'strict', 'lax' or 'none'. Choose one."],
    [{ secure: 'yes' as unknown as boolean }, 'secure must be a boolean. Set true or false.'],
    ...[0, -1, 1.5, Infinity, 34_560_001, '60' as unknown as number].map(
      (maxAgeSeconds): [SessionCookieOptions, string] => [
        { maxAgeSeconds },
        'maxAgeSeconds must be an integer from 1 to 34560000. Set it within that range.',
      ],
    ),
    ...[
      '',
      '.example.com',
      'https://example.com',
      'example.com:443',
      'localhost',
      'a.b; Secure',
      'a b.c',
      'a_.b',
      'a.b_',
      'a._',
      'a-.b',
      'a.b-',
      ['a.b'] as unknown as string,
    ].map((domain): [SessionCookieOptions, string] => [
      { name: 'x', domain },
      "domain is not a domain name. Write it as in 'example.com', without a scheme, a port and a leading dot.",
    ]),
    ...['', 'api', 'a/b', ['/a'] as unknown as string, '/a;b', '/a b', '/a\n', `/${'a'.repeat(1024)}`].map(
      (path): [SessionCookieOptions, string] => [
        { name: 'x', path },
        "path is not a path. Start it with '/', without spaces and ';'.",
      ],
    ),
    [
      { httpOnly: false } as SessionCookieOptions,
      'httpOnly is not an option. Valid options: name, sameSite, maxAgeSeconds, domain, path, secure.',
    ],
  ])(
    'is not made with %j, and the error names the function, the problem and the remedy',
    (options, message) => {
      expect(() => sessionCookie('t', options)).toThrow(
        new InvalidConfigurationError(`sessionCookie(): ${message}`),
      );
      expect(() => endedSessionCookie(options)).toThrow(
        new InvalidConfigurationError(`endedSessionCookie(): ${message}`),
      );
    },
  );

  it.each([
    '',
    'S3cret;Domain=evil.example',
    'S3cret\r\nSet-Cookie: a=b',
    'S3cret S3cret',
    'S3cret\u00e4',
    'S3cret'.repeat(1000),
  ])('is not made of the token %j, which is not printed', (token) => {
    const message =
      "sessionCookie(): the token must be 1 to 4082 visible ASCII characters without ';'. Send such a token in a header instead.";
    expect(() => sessionCookie(token)).toThrow(new InvalidConfigurationError(message));
  });
});
