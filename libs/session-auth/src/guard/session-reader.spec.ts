import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { HttpRequest } from './http-request.js';
import { SESSION_REJECTED, SESSION_REQUIRED } from '../contract/denials.js';
import {
  SessionReader,
  type SessionReaderSettings,
  fromBearer,
  fromCookie,
  fromHeader,
  type TokenSource,
} from './token-source.js';

const context = {} as ExecutionContext;

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
    ['an IV alone', { 'x-auth-iv': 'iv' }, SESSION_REQUIRED],
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
