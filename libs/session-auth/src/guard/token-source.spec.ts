import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { SESSION_REJECTED, SESSION_REQUIRED } from '../contract/denials.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { HttpRequest } from './http-request.js';
import {
  fromBearer,
  fromCookie,
  fromHeader,
  fromPayload,
  SessionReader,
  type FoundToken,
  type SessionReaderSettings,
  type TokenSource,
} from './token-source.js';

const context = {} as ExecutionContext;

const find = (source: TokenSource, request: Partial<HttpRequest>): FoundToken =>
  source(context, { headers: {}, ...request });

describe('a token behind Bearer', () => {
  it.each<[string | string[] | undefined, FoundToken]>([
    ['Bearer token', 'token'],
    ['bEARER    token', 'token'],
    ['Bearer', ''],
    ['Bearertoken', undefined],
    ['NotBearer token', undefined],
    ['Basic Bearer token', undefined],
    [undefined, undefined],
  ])('in %j is %j', (authorization, found) => {
    expect(find(fromBearer(), { headers: { authorization } as HttpRequest['headers'] })).toEqual(found);
  });
});

describe('a header that was sent twice', () => {
  it.each(['Authorization', 'Proxy-Authorization', 'From', 'Referer', 'User-Agent', 'Host'])(
    'is not a valid token, although Node.js keeps the first value of %s',
    (name) => {
      const headers = { [name.toLowerCase()]: 'token' };
      expect(find(fromHeader(name), { headers, rawHeaders: [name, 'token', name, 'other'] })).toEqual([
        'token',
        'token',
      ]);
      expect(find(fromHeader(name), { headers, rawHeaders: [name, 'token', 'Other', 'other'] })).toBe(
        'token',
      );
    },
  );
});

describe('a token in the fields of a handshake', () => {
  it.each<[string, TokenSource, string, (token: string) => string]>([
    ['a header', fromHeader('X-AUTH-TOKEN'), 'x-auth-token', (token) => token],
    ['Bearer', fromBearer(), 'authorization', (token) => `Bearer ${token}`],
  ])('is found where %s is missing, and replaces none [P24]', (_name, source, header, written) => {
    expect(find(source, { handshakeFields: { token: 'short' } })).toBe('short');
    expect(find(source, { handshakeFields: { token: 'short', [header]: written('named') } })).toBe('named');
    expect(find(source, { handshakeFields: { token: 'short', [header]: null } })).toBe('short');
    expect(
      find(source, {
        headers: { [header]: written('own') },
        handshakeFields: { token: 'short', [header]: written('named') },
      }),
    ).toBe('own');
  });

  it('is found beside a header with another scheme', () => {
    const headers = { authorization: 'Basic YTpi' };
    expect(find(fromBearer(), { headers, handshakeFields: { authorization: 'Bearer named' } })).toBe('named');
    expect(find(fromBearer(), { headers, handshakeFields: { token: 'short' } })).toBe('short');
    expect(
      find(fromBearer(), { headers, handshakeFields: { authorization: 'Basic YTpi', token: 'short' } }),
    ).toBeUndefined();
  });

  it.each(['Bearer short', 'bearer  short', 'short'])('may be written as %j in the field token', (token) => {
    expect(find(fromBearer(), { handshakeFields: { token } })).toBe('short');
  });

  it('is not found in a field that has the name of a cookie, or of its header [P24]', () => {
    const handshakeFields = { cookie: 'session=token', session: 'token', token: 'token' };
    expect(find(fromCookie('session'), { handshakeFields })).toBeUndefined();
  });
});

describe('a token in a cookie', () => {
  it.each<[string | undefined, FoundToken]>([
    ['session=token', 'token'],
    ['a=b; session=token; c=d', 'token'],
    ['a=b; \t session=token \t; c=d', 'token'],
    ['a=b;session=token', 'token'],
    ['session=a=b', 'a=b'],
    ['session=', ''],
    ['Session=token', undefined],
    ['xsession=token', undefined],
    ['session', undefined],
    [undefined, undefined],
  ])('in %j is %j', (cookie, found) => {
    expect(find(fromCookie('session'), { headers: cookie === undefined ? {} : { cookie } })).toBe(found);
  });

  it('that was sent twice is not a valid token', () => {
    const headers = { cookie: 'session=good; session=good' };
    expect(Array.isArray(find(fromCookie('session'), { headers }))).toBe(true);
  });
});

describe('a source', () => {
  it.each<[string, (name: string) => TokenSource, string, unknown[]]>([
    ['a header', fromHeader, "!#$%&'*+-.^_`|~09", ['', 'a b', 'a:b', 'a\n', 'é', undefined, ['a']]],
    ['a cookie', fromCookie, '__Host-session', ['', 'a b', 'a;b', 'a=b', 'a\n', 'é', undefined, ['a']]],
    ['a field', fromPayload, ' ', ['', undefined, 7, ['token']]],
  ])('is not made with what cannot be the name of %s', (what, create, valid, invalid) => {
    expect(create(valid)).toEqual(expect.any(Function));
    for (const name of invalid) {
      expect(() => create(name as string)).toThrow(InvalidConfigurationError);
      expect(() => create(name as string)).toThrow(`${create.name}() needs the name of ${what}: write`);
    }
  });
});

const readerOf = (settings: Partial<SessionReaderSettings> = {}): SessionReader =>
  new SessionReader({
    sources: [fromHeader('X-AUTH-TOKEN')],
    forwardAuthIv: true,
    maxTokenLength: 5,
    ...settings,
  });
const read = (settings: Partial<SessionReaderSettings>, headers: HttpRequest['headers'] = {}): unknown =>
  readerOf(settings).read(context, { headers });

/** A source that returns any value, as the code of an application may. */
const finding = (found: unknown): TokenSource => (() => found) as TokenSource;

describe('the session that a request presents', () => {
  it.each([
    ['a token and an IV', { 'x-auth-token': 'token', 'x-auth-iv': 'iv' }, { token: 'token', authIv: 'iv' }],
    ['a token and an empty IV', { 'x-auth-token': 'token', 'x-auth-iv': '' }, SESSION_REJECTED],
    ['a token and a long IV', { 'x-auth-token': 'token', 'x-auth-iv': '123456' }, SESSION_REJECTED],
    ['a long token', { 'x-auth-token': '123456' }, SESSION_REJECTED],
    ['an empty token', { 'x-auth-token': '' }, SESSION_REQUIRED],
  ])('for %s in the headers %j is %j', (_name, headers, session) => {
    expect(read({}, headers)).toEqual(session);
  });

  it('has the IV of a field of the handshake, which replaces none', () => {
    const handshakeFields = { token: 'token', 'x-auth-iv': 'field' };
    for (const [headers, authIv] of [
      [{}, 'field'],
      [{ 'x-auth-iv': 'iv' }, 'iv'],
    ] as const)
      expect(readerOf().read(context, { headers, handshakeFields })).toEqual({ token: 'token', authIv });
  });

  it('has no IV if forwardAuthIv is false', () => {
    expect(read({ forwardAuthIv: false }, { 'x-auth-token': 'token', 'x-auth-iv': '123456' })).toEqual({
      token: 'token',
    });
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
  ])('comes from the next source if one returns %s', (_name, found) => {
    expect(read({ sources: [finding(found), finding('token')] })).toMatchObject({ token: 'token' });
    expect(read({ sources: [finding(found)] })).toBe(SESSION_REQUIRED);
  });

  it.each([
    ['an empty string', () => '', SESSION_REQUIRED],
    ['a list', () => ['token'], SESSION_REJECTED],
    ['a promise that fails', () => Promise.reject(new Error('of the application')), SESSION_REJECTED],
  ])('is decided by the first source that returns a value: %s', async (_name, find, session) => {
    expect(read({ sources: [finding(find()), finding('token')] })).toBe(session);
    await new Promise(setImmediate);
  });

  it('is malformed if a source throws, regardless of the next one', () => {
    const throwing: TokenSource = () => {
      throw new Error('of the application');
    };
    expect(read({ sources: [throwing, finding('token')] })).toBe(SESSION_REJECTED);
  });
});

describe('the headers that a reply depends on', () => {
  it('are those of the sources, each once; a source without a header adds none', () => {
    const sources = [
      fromHeader('X-AUTH-TOKEN'),
      finding('token'),
      fromBearer(),
      fromHeader('X-AUTH-TOKEN'),
      fromCookie('session'),
    ];
    expect(readerOf({ sources }).vary).toBe('X-AUTH-TOKEN, Authorization, Cookie');
  });
});
