import fc from 'fast-check';
import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { HttpRequest } from './http-request.js';
import { CROSS_ORIGIN_TOKEN, isCrossOrigin, isCrossOriginToken, readTrustedOrigins } from './cross-origin.js';
import { fromCookie } from './token-source.js';

const NONE: ReadonlySet<string> = new Set();
const TRUSTED = 'https://app.example.com';

function post(headers: Record<string, string>, trusted = NONE): boolean {
  return isCrossOrigin({ method: 'POST', headers }, trusted);
}

interface Site {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;
const HOSTS = ['example.com', 'www.example.com', 'localhost', '127.0.0.1', '[::1]', 'xn--bcher-kva.example'];
const site = fc.record({
  scheme: fc.constantFrom('http' as const, 'https' as const),
  host: fc.constantFrom(...HOSTS),
  port: fc.constantFrom(80, 443, 8080, 8443),
});

/** The `Origin` that a browser sends for the pages of a site. */
const originOf = ({ scheme, host, port }: Site): string =>
  `${scheme}://${host}${port === DEFAULT_PORTS[scheme] ? '' : `:${port}`}`;
/** The `Host` of a request to a site. A default port may be named, and letters may have any case. */
const hostOf = ({ scheme, host, port }: Site, namesPort: boolean, isUpper: boolean): string => {
  const text = port === DEFAULT_PORTS[scheme] && !namesPort ? host : `${host}:${port}`;
  return isUpper ? text.toUpperCase() : text;
};

describe('a request without Sec-Fetch-Site', () => {
  it('is of the same origin if and only if its Origin has the host and the port of its Host, for pages of the same scheme', () => {
    fc.assert(
      fc.property(site, site, fc.boolean(), fc.boolean(), (page, target, namesPort, isUpper) => {
        const own = { ...target, scheme: page.scheme };
        const isSame = page.host === own.host && page.port === own.port;
        expect(post({ origin: originOf(page), host: hostOf(own, namesPort, isUpper) })).toBe(!isSame);
      }),
    );
  });

  it.each([
    ['null', 'app.example.com'],
    ['https://APP.example.com', 'app.example.com'],
    ['https://app.example.com:443', 'app.example.com'],
    ['https://app.example.com.evil.example', 'app.example.com'],
    ['https://evil.example', 'user@evil.example'],
    ['https://evil.example', 'evil.example/app.example.com'],
    ['https://evil.example', 'evil.example?app.example.com'],
    ['https://evil.example', 'evil.example\\app.example.com'],
    ['https://app.example.com', ''],
    ['https://app.example.com', 'app.example.com:80'],
    ['chrome-extension://abc', 'abc'],
  ])('is of another origin with Origin %j and Host %j', (origin, host) => {
    expect(post({ origin, host })).toBe(true);
  });

  it('is of another origin if it has an Origin and no Host, and of none without both', () => {
    expect(post({ origin: TRUSTED })).toBe(true);
    expect(post({ origin: 'http://undefined' })).toBe(true);
    expect(post({ host: 'app.example.com' })).toBe(false);
    expect(post({})).toBe(false);
  });

  it('has its host in :authority on HTTP/2', () => {
    expect(post({ origin: TRUSTED, ':authority': 'app.example.com' })).toBe(false);
    expect(post({ origin: TRUSTED, ':authority': 'api.example.com' })).toBe(true);
  });
});

describe('Sec-Fetch-Site', () => {
  it.each([
    ['same-origin', false],
    ['none', false],
    ['same-site', true],
    ['cross-site', true],
    ['', true],
    ['same-origin, cross-site', true],
  ])('%j decides, whatever Origin and Host are', (value, expected) => {
    for (const origin of [{}, { origin: TRUSTED }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
      expect(post({ 'sec-fetch-site': value, host: 'app.example.com', ...origin })).toBe(expected);
    }
  });

  it.each<[string, Partial<HttpRequest>]>([
    ['the handshake of a socket', { handshakeFields: {}, rawHeaders: [] }],
    ['a request that opens a socket', { method: 'GET', headers: { upgrade: 'websocket' } }],
  ])('does not outvote the Origin of %s [P24]', (_kind, { headers, ...request }) => {
    const isCross = (site: string, origin?: string): boolean => {
      const all = { ...headers, 'sec-fetch-site': site, host: 'app.example.com', ...(origin && { origin }) };
      return isCrossOrigin({ ...request, headers: all }, NONE);
    };
    const origins = [undefined, TRUSTED, 'https://evil.example', 'null'];
    for (const site of ['same-origin', 'none'])
      expect(origins.map((origin) => isCross(site, origin))).toEqual([false, false, true, true]);
    expect(isCross('cross-site', TRUSTED)).toBe(true);
  });

  it('does not decide about a trusted origin', () => {
    const from = (origin?: string): boolean =>
      post({ 'sec-fetch-site': 'cross-site', ...(origin && { origin }) }, new Set([TRUSTED]));
    expect([TRUSTED, undefined, `${TRUSTED}.evil.example`].map(from)).toEqual([false, true, true]);
  });
});

describe('a method', () => {
  const EVIL = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example', host: 'app.example.com' };

  it.each(['GET', 'HEAD', 'OPTIONS'])(
    '%s is admitted from any origin, unless it opens a socket',
    (method) => {
      expect(isCrossOrigin({ method, headers: EVIL }, NONE)).toBe(false);
      expect(isCrossOrigin({ method, headers: { ...EVIL, upgrade: 'h2c' } }, NONE)).toBe(false);
      for (const opening of [
        { upgrade: 'websocket' },
        { upgrade: 'h2c, WebSocket' },
        { 'sec-fetch-mode': 'websocket' },
      ])
        expect(isCrossOrigin({ method, headers: { ...EVIL, ...opening } }, NONE)).toBe(true);
    },
  );

  it.each(['POST', 'DELETE', 'QUERY', 'get', 'TRACE', undefined])('%s is not', (method) => {
    expect(isCrossOrigin({ method, headers: EVIL }, NONE)).toBe(true);
  });
});

describe('fromCookie', () => {
  const cookie = 'session=token';
  const evil = { origin: 'https://evil.example', host: 'app.example.com' };
  const trusting = { trustedOrigins: [evil.origin] };
  const find = (request: HttpRequest, options = {}): unknown =>
    fromCookie('session', options)({} as ExecutionContext, request);

  it('finds no usable token in a request of another origin, and none at all without its cookie', () => {
    expect(find({ method: 'POST', headers: { cookie, ...evil } })).toBe(CROSS_ORIGIN_TOKEN);
    expect(find({ method: 'POST', headers: { cookie: 'session=', ...evil } })).toBe('');
    expect(find({ method: 'POST', headers: { cookie: 'other=token', ...evil } })).toBeUndefined();
    expect(find({ method: 'POST', headers: { cookie, ...evil } }, trusting)).toBe('token');
  });

  it('reads the headers of the handshake, and not the fields that a page sends over the socket', () => {
    const handshakeFields = { origin: TRUSTED, host: 'evil.example', 'sec-fetch-site': 'same-origin' };
    expect(find({ headers: { cookie, ...evil }, rawHeaders: [], handshakeFields })).toBe(CROSS_ORIGIN_TOKEN);
    const headers = { cookie, ...evil, origin: TRUSTED };
    expect(find({ headers, rawHeaders: [], handshakeFields: evil })).toBe('token');
    expect(find({ headers: { cookie }, handshakeFields })).toBe(CROSS_ORIGIN_TOKEN);
  });
});

describe('trusted origins', () => {
  it.each(['http://localhost:5173', 'https://xn--bcher-kva.example', 'capacitor://localhost:8080'])(
    'may have %s',
    (origin) => {
      expect(readTrustedOrigins('it', { trustedOrigins: [origin] })).toEqual(new Set([origin]));
    },
  );

  it.each([
    ...['null', '', 'app.example.com', 'https://app.example.com/', 'https://*.example.com'],
    ...['https://app.example.com:443', 'https://APP.example.com', 'https://bücher.example'],
    ...[' https://app.example.com', 'https://app.example.com, https://b.example', 'javascript:alert(1)'],
    ...['capacitor://localhost/path', 'capacitor://localhost:port', 'file://'],
  ])('may not have %j, which the error names', (origin) => {
    expect(() => readTrustedOrigins('it', { trustedOrigins: ['https://a.example', origin] })).toThrow(
      new Error(
        `it has trustedOrigins[1], ${JSON.stringify(origin)}, that is not an origin. ` +
          "Write each as browsers do, as in 'https://app.example.com' or 'http://localhost:5173'.",
      ),
    );
  });

  it.each<[unknown, string]>([
    [null, 'options that are not an object. It may hold trustedOrigins.'],
    [{ trustedOrigins: 'https://a.example' }, 'trustedOrigins that is not a list. Write each'],
    [{ trustedOrigins: [7] }, 'trustedOrigins[0] that is not an origin. Write each'],
    [{ trustedOrigins: ['https://user:secret@a.example'] }, 'trustedOrigins[0] that is not an origin.'],
    [{ trustedOrigin: [] }, '"trustedOrigin", which is not an option. The option is trustedOrigins.'],
  ])('are not %j, and the error has no password', (options, problem) => {
    expect(() => readTrustedOrigins('it', options)).toThrow(`it has ${problem}`);
  });
});

describe('the mark of a cookie from another origin', () => {
  it('is recognized in every copy of this package', () => {
    expect(isCrossOriginToken(CROSS_ORIGIN_TOKEN)).toBe(true);
    expect(isCrossOriginToken({ [Symbol.for('nestjs-session-auth:cross-origin-token')]: true })).toBe(true);
  });
});
