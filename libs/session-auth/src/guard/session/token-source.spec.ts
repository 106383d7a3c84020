import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { HttpRequest } from '../http/http-request.js';
import { fromBearer, fromHeader, type FoundToken, type TokenSource } from './token-source.js';

const find = (source: TokenSource, request: Partial<HttpRequest>): FoundToken =>
  source({} as ExecutionContext, { headers: {}, ...request });

describe('a token behind Bearer', () => {
  it.each<[string | string[] | undefined, FoundToken]>([
    ['Bearer token', 'token'],
    ['bEARER    token', 'token'],
    ['Bearer', ''],
    ['Bearertoken', undefined],
    ['NotBearer token', undefined],
    [' Bearer token', undefined],
    ['Basic Bearer token', undefined],
    [undefined, undefined],
    [
      ['Basic a', 'Basic b'],
      ['Basic a', 'Basic b'],
    ],
  ])('in %j is %j', (authorization, found) => {
    expect(find(fromBearer(), { headers: { authorization } as HttpRequest['headers'] })).toEqual(found);
  });
});

describe('a header that was sent twice', () => {
  it.each(['Authorization', 'Proxy-Authorization', 'From', 'Referer', 'User-Agent', 'Host'])(
    'is not a valid token, although Node.js keeps the first value of %s',
    (name) => {
      const headers = { [name.toLowerCase()]: 'token' };
      expect(find(fromHeader(name), { headers, rawHeaders: [name, 'token', name, 'other'] })).toEqual(['token', 'token']);
      expect(find(fromHeader(name), { headers, rawHeaders: [name, 'token', 'Other', 'other'] })).toBe('token');
    },
  );

  it('is the joined value if Node.js keeps all values', () => {
    const rawHeaders = ['X-Auth-Token', 'a', 'X-Auth-Token', 'b'];
    expect(find(fromHeader('X-Auth-Token'), { headers: { 'x-auth-token': 'a, b' }, rawHeaders })).toBe('a, b');
  });

  it('is a list if the platform returns one', () => {
    const headers = { referer: ['a', 'b'] } as unknown as HttpRequest['headers'];
    expect(find(fromHeader('Referer'), { headers, rawHeaders: ['Referer', 'a', 'Referer', 'b'] })).toEqual(['a', 'b']);
  });
});
