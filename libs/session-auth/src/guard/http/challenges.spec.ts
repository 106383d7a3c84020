import { describe, expect, it } from '@jest/globals';
import { ACCESS_DENIED, SESSION_REJECTED, SESSION_REQUIRED } from '../../contract/denials.js';
import { unavailable } from '../../contract/outcome.js';
import { unavailableDenial } from '../denial.js';
import { fromBearer, fromCookie, fromHeader, fromPayload, type TokenSource } from '../session/token-source.js';
import { Challenges } from './challenges.js';

const own = (names: object): TokenSource => Object.assign(() => undefined, names);

describe('the challenge of a 401', () => {
  it.each<[string, TokenSource[], string[]]>([
    ['the default header', [fromHeader('X-AUTH-TOKEN')], ['X-Auth-Token']],
    ['another header', [fromHeader('x-session')], ['X-Session']],
    ['Bearer', [fromBearer()], ['Bearer']],
    ['a cookie', [fromCookie('sid')], ['Cookie']],
    ['Bearer, then a cookie', [fromBearer(), fromCookie('sid')], ['Bearer', 'Cookie']],
    ['a cookie, then Bearer', [fromCookie('sid'), fromBearer()], ['Cookie', 'Bearer']],
    ['two cookies', [fromCookie('sid'), fromCookie('old')], ['Cookie']],
    ['one header in two spellings', [fromHeader('X-A'), fromHeader('x-a')], ['X-A']],
    ['the payload, then Bearer', [fromPayload('token'), fromBearer()], ['Bearer']],
    ['the payload alone', [fromPayload('token')], ['X-Auth-Token']],
    ['a function that names its scheme', [own({ header: 'Authorization', scheme: 'DPoP' })], ['DPoP']],
    ['a function that names a header', [own({ header: 'X-Own' })], ['X-Own']],
    ['a function that names neither', [own({})], ['X-Auth-Token']],
    ['names that no header may have', [own({ scheme: 'a"b\r\nx: y' }), own({ header: '' }), fromBearer()], ['Bearer']],
  ])('names the scheme of each source once, in their order: %s', (_name, sources, schemes) => {
    const challenges = new Challenges(sources);
    const [missing, refused] = ['', ', error="invalid_token"'].map((error) => schemes.map((name) => `${name} realm="session"${error}`));

    expect(challenges.headersOf(SESSION_REQUIRED)).toEqual([['www-authenticate', missing?.join(', ')]]);
    expect(challenges.headersOf(SESSION_REJECTED)).toEqual([['www-authenticate', refused?.join(', ')]]);
  });

  it('does not say that a token was invalid if credentials were', () => {
    const denial = { statusCode: 401, code: 'CREDENTIALS_REJECTED', message: '' };
    expect(new Challenges([fromBearer()]).headersOf(denial)).toEqual([['www-authenticate', 'Bearer realm="session"']]);
  });

  it('is no part of another denial', () => {
    const challenges = new Challenges([fromBearer()]);
    expect(challenges.headersOf(ACCESS_DENIED)).toEqual([]);
    expect(challenges.headersOf(unavailableDenial(unavailable('busy', 7)))).toEqual([['retry-after', '7']]);
  });
});
