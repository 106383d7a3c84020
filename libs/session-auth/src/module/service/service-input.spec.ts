import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError, SessionRejectedError } from '../../exceptions/session-exceptions.js';
import { HiddenSession, type PresentedSession } from '../../guard/current-user.decorator.js';
import { ServiceInput } from './service-input.js';

const input = new ServiceInput(5);

describe('the session of a call', () => {
  it.each<[string | PresentedSession, string | undefined, object]>([
    ['token', undefined, { token: 'token', authIv: undefined }],
    ['token', 'iv', { token: 'token', authIv: 'iv' }],
    ['t', '12345', { token: 't', authIv: '12345' }],
    [{ token: 'token', authIv: 'iv' }, 'other', { token: 'token', authIv: 'iv' }],
    [{ token: 'token' }, 'other', { token: 'token', authIv: undefined }],
    [new HiddenSession({ token: 'token', authIv: 'iv' }), undefined, { token: 'token', authIv: 'iv' }],
  ])('%j has an X-AUTH-IV of its own, or as a token the one beside it (%p)', (session, authIv, identity) => {
    expect(input.identity(session, { authIv })).toEqual(identity);
    expect(input.token(session)).toBe((identity as { token: string }).token);
  });

  it.each<[unknown]>([
    ...['', 'a b', '123456', '\u00f6', 'a\r\nb'].map((token): [string] => [token]),
    ...[undefined, null, 7, ['token'], { token: '123456' }, { token: 7 }].map((token): [unknown] => [token]),
  ])('%j has no token that can be sent', (session) => {
    expect(() => input.token(session as string)).toThrow(SessionRejectedError);
    expect(() => input.identity(session as string, {})).toThrow(SessionRejectedError);
  });

  it.each<[unknown]>([[''], ['123456'], ['iv\n'], [7], [null]])(
    '%j is no X-AUTH-IV that can be sent',
    (authIv) => {
      expect(() => input.identity('token', { authIv: authIv as string })).toThrow(SessionRejectedError);
      expect(() => input.identity({ token: 'token', authIv: authIv as string }, {})).toThrow(
        SessionRejectedError,
      );
    },
  );

  it.each([{}, JSON.parse(JSON.stringify(new HiddenSession({ token: 'token', authIv: 'iv' })))])(
    'that went through JSON has an error of its own: %j [P43]',
    (session: unknown) => {
      const message = expect.stringMatching(
        /^The session has no token: .* Store session\.token and session\.authIv/,
      );
      for (const read of [() => input.token(session as string), () => input.identity(session as string, {})])
        expect(read).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST', message }));
    },
  );

  it('may be read for its token, whatever its X-AUTH-IV is', () => {
    expect(input.token({ token: 'token', authIv: '' })).toBe('token');
  });
});

describe('the credentials of a sign-in', () => {
  it.each([undefined, '12345'])(
    'are the user name and the password, and nothing else, with the X-AUTH-IV %p',
    (authIv) => {
      expect(input.credentials({ username: 'ann', password: 'secret', persist: true }, authIv)).toStrictEqual(
        {
          username: 'ann',
          password: 'secret',
        },
      );
      expect(input.credentials({ username: '', password: '' }, authIv)).toStrictEqual({
        username: '',
        password: '',
      });
    },
  );

  it.each<[unknown]>([
    ...[undefined, null, []].map((credentials): [unknown] => [credentials]),
    [{ username: 'ann' }],
    [{ username: 7, password: 'secret' }],
    [Object.assign(() => undefined, { username: 'ann', password: 'secret' })],
  ])('are not %j', (credentials) => {
    expect(() => input.credentials(credentials, undefined)).toThrow(InvalidRequestError);
    expect(() => input.credentials(credentials, undefined)).toThrow(
      'A sign-in needs a username and a password',
    );
  });

  it.each<[unknown]>([[''], ['123456'], [7]])('are not sent with the X-AUTH-IV %j', (authIv) => {
    const read = (): unknown => input.credentials({ username: 'ann', password: 'secret' }, authIv as string);
    expect(read).toThrow(InvalidRequestError);
    expect(read).toThrow('The X-AUTH-IV cannot be sent as it is');
  });
});

describe('the name of a user whose sessions end', () => {
  it.each([['a'], ['\u00e4 b'], ['a'.repeat(1_024)]])('has 1 to 1024 characters', (username) => {
    expect(input.username(username)).toBe(username);
  });

  it.each<[unknown]>([[''], ['a'.repeat(1_025)], [undefined], [['a']]])('is not %j', (username) => {
    expect(() => input.username(username)).toThrow(InvalidRequestError);
  });
});
