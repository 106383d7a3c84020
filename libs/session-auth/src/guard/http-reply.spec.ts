import { describe, expect, it } from '@jest/globals';
import { isChallenged, keepFromSharedCaches, setHeaders } from './transport.js';

function expressReply(headers: Map<string, string>, headersSent = false): object {
  return {
    headersSent,
    getHeader: (name: string) => headers.get(name),
    setHeader: (name: string, value: string) => headers.set(name, value),
  };
}

function fastifyReply(headers: Map<string, string>, sent = false): object {
  return {
    sent,
    getHeader: (name: string) => headers.get(name),
    header: (name: string, value: string) => headers.set(name, value),
  };
}

describe.each([
  ['Express', expressReply],
  ['Fastify', fastifyReply],
])('a reply of %s', (_name, replyWith) => {
  it.each([
    [undefined, 'x-auth-token'],
    ['Origin', 'Origin, x-auth-token'],
    ['Origin ,Accept', 'Origin, Accept, x-auth-token'],
    ['Origin,  X-AUTH-TOKEN', 'Origin, X-AUTH-TOKEN'],
    ['Origin, *', 'Origin, *'],
  ])('with Vary %p has Vary %p once it depends on a token', (before, after) => {
    const headers = new Map(before === undefined ? [] : [['vary', before]]);
    keepFromSharedCaches(replyWith(headers), 'x-auth-token');
    expect(headers.get('vary')).toBe(after);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('has no Vary if no header carries the token', () => {
    const headers = new Map<string, string>();
    keepFromSharedCaches(replyWith(headers), '');
    expect([...headers]).toEqual([['cache-control', 'no-store']]);
  });

  it('is challenged once it has a WWW-Authenticate', () => {
    const headers = new Map([['retry-after', '5']]);
    expect(isChallenged(replyWith(headers))).toBe(false);
    headers.set('www-authenticate', 'Bearer realm="session"');
    expect(isChallenged(replyWith(headers))).toBe(true);
  });

  it('that has been sent is not changed', () => {
    const headers = new Map<string, string>();
    const reply = replyWith(headers, true);
    keepFromSharedCaches(reply, 'x-auth-token');
    setHeaders(reply, [['retry-after', '5']]);
    expect([...headers]).toEqual([]);
  });
});
