import { describe, expect, it } from '@jest/globals';
import { ACCESS_DENIED, SESSION_REJECTED, SESSION_REQUIRED } from '../contract/denials.js';
import { unavailable } from '../contract/outcome.js';
import { denialOfVerdict } from './denial.js';
import {
  fromBearer,
  fromCookie,
  fromHeader,
  fromPayload,
  SessionReader,
  type TokenSource,
} from './token-source.js';
import { Challenges } from './challenges.js';

/** The headers of a 401 that refuses the token of a request, which a source has found. */
function refusedBy(challenges: Challenges, source: number): unknown {
  const request = {};
  if (challenges.dependOnSource) challenges.presentedBy(source, request);
  return challenges.headersOf(SESSION_REJECTED, request);
}

function challengesOf(schemes: readonly string[], invalid?: string): unknown {
  const listed = schemes.map(
    (scheme) => `${scheme} realm="session"${scheme === invalid ? ', error="invalid_token"' : ''}`,
  );
  return [['www-authenticate', listed.join(', ')]];
}

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
    [
      'names that no header may have',
      [own({ scheme: 'a"b\r\nx: y' }), own({ header: '' }), fromBearer()],
      ['Bearer'],
    ],
  ])('names the scheme of each source once, in their order: %s', (_name, sources, schemes) => {
    expect(new Challenges(sources).headersOf(SESSION_REQUIRED)).toEqual(challengesOf(schemes));
  });

  it.each<[string, TokenSource[], string[]]>([
    ['the only one', [fromBearer()], ['Bearer']],
    ['the only one, of two cookies', [fromCookie('sid'), fromCookie('old')], ['Cookie']],
    ['the default one', [own({}), own({})], ['X-Auth-Token']],
  ])('says that a refused token is invalid in the challenge of its scheme: %s', (_name, sources, schemes) => {
    const challenges = new Challenges(sources);

    expect(challenges.headersOf(SESSION_REJECTED)).toEqual(challengesOf(schemes, schemes[0]));
    expect(refusedBy(challenges, sources.length - 1)).toEqual(challengesOf(schemes, schemes[0]));
  });

  it.each<[string, number, string | undefined]>([
    ['a bearer token', 0, 'Bearer'],
    ['a cookie', 1, 'Cookie'],
    ['a token of a source without a scheme', 2, undefined],
  ])(
    'says that a refused token is invalid in no challenge of another scheme: %s',
    (_name, source, scheme) => {
      const challenges = new Challenges([fromBearer(), fromCookie('sid'), own({})]);

      expect(refusedBy(challenges, source)).toEqual(challengesOf(['Bearer', 'Cookie'], scheme));
      expect(challenges.headersOf(SESSION_REJECTED)).toEqual(challengesOf(['Bearer', 'Cookie']));
    },
  );

  it('distinguishes a source with a scheme from one without', () => {
    const challenges = new Challenges([fromBearer(), own({})]);

    expect(refusedBy(challenges, 0)).toEqual(challengesOf(['Bearer'], 'Bearer'));
    expect(refusedBy(challenges, 1)).toEqual(challengesOf(['Bearer']));
  });

  it('leaves no mark on a request if it does not depend on the source of the token', () => {
    const sources = [fromCookie('sid'), fromCookie('old')];
    const request = { headers: { cookie: 'old=token' } };
    new SessionReader({ sources, forwardAuthIv: false, maxTokenLength: 9 }).read({} as never, request);
    expect(Reflect.ownKeys(request)).toEqual(['headers']);
  });

  it('is built once, and not for each denial', () => {
    const challenges = new Challenges([fromBearer(), fromCookie('sid')]);

    expect(refusedBy(challenges, 1)).toBe(refusedBy(challenges, 1));
    expect(challenges.headersOf(SESSION_REQUIRED)).toBe(challenges.headersOf(SESSION_REQUIRED));
  });

  it('does not say that a token was invalid if credentials were', () => {
    const denial = { statusCode: 401, code: 'CREDENTIALS_REJECTED', message: '' };
    expect(new Challenges([fromBearer()]).headersOf(denial)).toEqual([
      ['www-authenticate', 'Bearer realm="session"'],
    ]);
  });

  it('is no part of another denial', () => {
    const challenges = new Challenges([fromBearer()]);
    expect(challenges.headersOf(ACCESS_DENIED)).toEqual([]);
    expect(challenges.headersOf(denialOfVerdict(unavailable('busy', 7)))).toEqual([['retry-after', '7']]);
  });
});
