import { describe, expect, it } from '@jest/globals';
import {
  ACCESS_CHECK_FAILED,
  ACCESS_DENIED,
  SESSION_REJECTED,
  SESSION_REQUIRED,
} from '../contract/denials.js';
import { unavailable } from '../contract/outcome.js';
import { Challenge } from './challenge.js';
import { denialOfVerdict } from './denial.js';
import { fromBearer, fromCookie, fromHeader, fromPayload, type TokenSource } from './token-source.js';

const own = (names: object): TokenSource => Object.assign(() => undefined, names);

describe('the challenge of a 401', () => {
  it.each<[string, TokenSource[], string]>([
    ['the default header', [fromHeader('X-AUTH-TOKEN')], 'X-Auth-Token'],
    ['a cookie, then Bearer', [fromCookie('sid'), fromBearer()], 'Cookie'],
    ['the payload, then Bearer', [fromPayload('token'), fromBearer()], 'Bearer'],
    ['the payload alone', [fromPayload('token')], 'X-Auth-Token'],
    ['a function that names its scheme', [own({ header: 'Authorization', scheme: 'DPoP' })], 'DPoP'],
    ['names that are none', [own({ scheme: 'a"b\r\nx: y' }), own({ header: '' }), fromBearer()], 'Bearer'],
  ])('names the scheme of the first source that has one: %s', (_name, sources, scheme) => {
    const challenge = new Challenge(sources);
    expect(challenge.headersOf(SESSION_REQUIRED)).toEqual([
      ['www-authenticate', `${scheme} realm="session"`],
    ]);
    expect(challenge.headersOf(SESSION_REJECTED)).toEqual([
      ['www-authenticate', `${scheme} realm="session", error="invalid_token"`],
    ]);
  });

  it('does not say that a token was invalid if credentials were', () => {
    const denial = { statusCode: 401, code: 'CREDENTIALS_REJECTED', message: '' };
    expect(new Challenge([fromBearer()]).headersOf(denial)).toEqual([
      ['www-authenticate', 'Bearer realm="session"'],
    ]);
  });

  it('is no part of another denial', () => {
    const challenge = new Challenge([fromBearer()]);
    expect(challenge.headersOf(ACCESS_DENIED)).toEqual([]);
    expect(challenge.headersOf(ACCESS_CHECK_FAILED)).toEqual([['retry-after', '5']]);
    expect(challenge.headersOf(denialOfVerdict(unavailable('busy', 7)))).toEqual([['retry-after', '7']]);
  });
});
