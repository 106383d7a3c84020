import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import { fromCookie } from '../guard/token-source.js';
import type { SessionCookieOptions } from './cookie-options.js';
import { endedSessionCookie, sessionCookie } from './session-cookie.js';

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

  it.each<[string, SessionCookieOptions, string]>([
    ['name', { name: '' }, 'name is not the name of a cookie'],
    ['name', { name: 'a=b' }, 'name is not the name of a cookie'],
    ['name', { name: 'a;b' }, 'name is not the name of a cookie'],
    ['name', { name: 'a\r\nx' }, 'name is not the name of a cookie'],
    ['domain', { domain: 'example.com' }, 'browsers drop __Host-session with a domain'],
    ['domain', { name: '__host-x', domain: 'example.com' }, 'browsers drop __host-x with a domain'],
    ['path', { path: '/api' }, "browsers drop __Host-session with another path than '/'"],
    ['secure', { secure: false }, 'browsers drop __Host-session without secure'],
    ['secure', { name: '__Secure-x', secure: false }, 'browsers drop __Secure-x without secure'],
    ['secure', { name: '__http-x', secure: false }, 'browsers drop __http-x without secure'],
    [
      'sameSite',
      { name: 'x', sameSite: 'none', secure: false },
      "browsers drop a cookie that has sameSite 'none' without secure",
    ],
    ['sameSite', { sameSite: 'Lax' as 'lax' }, "sameSite must be 'strict', 'lax' or 'none'"],
    ['secure', { secure: 'yes' as unknown as boolean }, 'secure must be a boolean'],
    ...[0, -1, 1.5, Infinity, 34_560_001, '60' as unknown as number].map(
      (maxAgeSeconds): [string, SessionCookieOptions, string] => [
        'maxAgeSeconds',
        { maxAgeSeconds },
        'maxAgeSeconds must be an integer from 1 to 34560000',
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
    ].map((domain): [string, SessionCookieOptions, string] => [
      'domain',
      { name: 'x', domain },
      'domain is not a domain name',
    ]),
    ...['', 'api', 'a/b', ['/a'] as unknown as string, '/a;b', '/a b', '/a\n', `/${'a'.repeat(1024)}`].map(
      (path): [string, SessionCookieOptions, string] => ['path', { name: 'x', path }, 'path is not a path'],
    ),
    ['httpOnly', { httpOnly: false } as SessionCookieOptions, 'httpOnly is not an option'],
  ])('is not made with an invalid %s: %j', (_option, options, problem) => {
    for (const make of [() => sessionCookie('t', options), () => endedSessionCookie(options)]) {
      expect(make).toThrow(InvalidConfigurationError);
      expect(make).toThrow(`(): ${problem}. `);
    }
  });

  it.each<[SessionCookieOptions, string]>([
    [{ name: '' }, "name is not the name of a cookie. Give it one as in '__Host-session'."],
    [
      { httpOnly: false } as SessionCookieOptions,
      'httpOnly is not an option. Valid options: name, sameSite, maxAgeSeconds, domain, path, secure.',
    ],
    [{ sameSite: 'Lax' as 'lax' }, "sameSite must be 'strict', 'lax' or 'none'. Choose one."],
    [{ secure: 1 as unknown as boolean }, 'secure must be a boolean. Set true or false.'],
    [{ maxAgeSeconds: 0 }, 'maxAgeSeconds must be an integer from 1 to 34560000. Set it within that range.'],
    [
      { name: 'x', domain: 'localhost' },
      "domain is not a domain name. Write it as in 'example.com', without a scheme, a port and a leading dot.",
    ],
    [{ name: 'x', path: 'api' }, "path is not a path. Start it with '/', without spaces and ';'."],
    [{ secure: false }, 'browsers drop __Host-session without secure. Change the option, or the name.'],
    [
      { name: 'x', sameSite: 'none', secure: false },
      "browsers drop a cookie that has sameSite 'none' without secure. Set secure: true.",
    ],
  ])('names the function, the problem and the remedy, with the options %j', (options, message) => {
    expect(() => sessionCookie('t', options)).toThrow(
      new InvalidConfigurationError(`sessionCookie(): ${message}`),
    );
    expect(() => endedSessionCookie(options)).toThrow(
      new InvalidConfigurationError(`endedSessionCookie(): ${message}`),
    );
  });

  it('names the remedy for a token that no cookie can have', () => {
    const message =
      "sessionCookie(): the token must be 1 to 4082 visible ASCII characters without ';'. Send such a token in a header instead.";
    expect(() => sessionCookie('')).toThrow(new InvalidConfigurationError(message));
  });

  it.each([
    '',
    'S3cret;Domain=evil.example',
    'S3cret\r\nSet-Cookie: a=b',
    'S3cret S3cret',
    'S3cret\u00e4',
    'S3cret'.repeat(1000),
  ])('is not made of the token %j, which is not printed', (token) => {
    expect(() => sessionCookie(token)).toThrow(
      "the token must be 1 to 4082 visible ASCII characters without ';'",
    );
    expect(() => sessionCookie(token)).not.toThrow('S3cret');
  });
});
