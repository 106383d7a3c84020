import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { UserRecord, type Credentials } from 'nestjs-session-auth';
import { drop, inTurn, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { totalTimeFor } from '../support/total-time.js';

const ANN: Credentials = { username: 'ann', password: 'pa ss"wörd\u0000' };
const SESSION = { username: 'ann', role: 'new_hire', auth_token: 'new-token', extra: 1 };

describe('a sign-in', () => {
  const bed = testbed();

  async function signIn(script: Script, credentials: Credentials = ANN, authIv?: string) {
    const service = await bed.service();
    service.on('sign_in', script);
    const sessions = await bed.sessions({ baseUrl: service.url, options: { signInTimeoutMs: totalTimeFor(script) } });
    const call = authIv === undefined ? {} : { authIv };
    const outcome: unknown = await sessions.signIn(credentials, call).catch((error: unknown) => error);
    return { outcome, requests: service.requests };
  }

  it('brings the user and the token', async () => {
    const { outcome, requests } = await signIn(json(SESSION));

    expect(outcome).toEqual({ kind: 'signed-in', token: 'new-token', user: expect.any(UserRecord) as UserRecord });
    expect((outcome as { user: UserRecord }).user).toMatchObject({ username: 'ann', role: 'new_hire', auth_token: 'new-token' });
    expect(JSON.stringify((outcome as { user: UserRecord }).user)).toBe('{"username":"ann","role":"new_hire"}');
    expect(requests).toHaveLength(1);
  });

  it('sends what the interface lists and nothing else', async () => {
    const { requests } = await signIn(json(SESSION), { ...ANN, remember: true } as Credentials, 'iv-1');
    const [request] = requests;
    const body = JSON.stringify({ username: 'ann', password: ANN.password });

    expect(request).toMatchObject({ method: 'POST', path: '/authentication', body });
    expect(request?.headers).toEqual({
      host: expect.any(String) as unknown,
      connection: 'close',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-api-key': 'application-key',
      'x-auth-iv': 'iv-1',
    });
  });

  it.each(['', 'any body', JSON.stringify(SESSION)])('that is answered 202 is accepted, with no user and no token: %p', async (body) => {
    const { outcome, requests } = await signIn(reply(202, body, { 'content-type': 'application/json' }));

    expect(outcome).toEqual({ kind: 'accepted' });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['400', reply(400), 'InvalidRequestError', 'INVALID_REQUEST', 400],
    ['401', reply(401), 'CredentialsRejectedError', 'CREDENTIALS_REJECTED', 401],
    ['404', reply(404), 'CredentialsRejectedError', 'CREDENTIALS_REJECTED', 401],
    ['403', reply(403), 'AccessDeniedError', 'ACCESS_DENIED', 403],
  ])('that is answered %s fails with its own error, after one attempt', async (_status, script, name, code, statusCode) => {
    const { outcome, requests } = await signIn(script);

    expect(outcome).toBeInstanceOf(Error);
    expect(outcome).toMatchObject({ name, code, statusCode });
    expect(requests).toHaveLength(1);
  });

  it('tells nobody whether the user or the password is wrong', async () => {
    const [wrong, unknown] = [await signIn(reply(401)), await signIn(reply(404))];

    expect(inspect(unknown.outcome).split('\n', 1)).toEqual(inspect(wrong.outcome).split('\n', 1));
    expect(Object.entries(unknown.outcome as Error)).toEqual(Object.entries(wrong.outcome as Error));
  });

  it.each<[string, Script, string]>([
    ['500', reply(500), 'server_error'],
    ['502 and then 200', inTurn(reply(502), json(SESSION)), 'server_error'],
    ['503', reply(503), 'server_error'],
    ['408', reply(408), 'server_error'],
    ['429', reply(429, '', { 'retry-after': '7' }), 'rate_limited'],
    ['201', reply(201, JSON.stringify(SESSION)), 'unexpected_status'],
    ['204', reply(204), 'unexpected_status'],
    ['302', reply(302, '', { location: '/' }), 'unexpected_status'],
    ['418', reply(418), 'unexpected_status'],
    ['a reset and then 200', inTurn(drop, json(SESSION)), 'unreachable'],
    ['silence', silence, 'timeout'],
    ['200 and no body', reply(200), 'malformed'],
    ['200 and no JSON', reply(200, '{'), 'malformed'],
    ['200 and no token', json({ username: 'ann' }), 'malformed'],
    ['200 and an empty token', json({ ...SESSION, auth_token: '' }), 'malformed'],
    ['200 and a token that cannot be sent', json({ ...SESSION, auth_token: 'a b' }), 'malformed'],
    ['200 and a token that is too long', json({ ...SESSION, auth_token: 't'.repeat(4097) }), 'malformed'],
    ['200 and a number for a token', json({ ...SESSION, auth_token: 7 }), 'malformed'],
    ['200 and nobody', json({ auth_token: 'new-token' }), 'malformed'],
    ['200 and a wrong field', json({ ...SESSION, role: ['boss'] }), 'malformed'],
  ])('that is answered with %s fails as unavailable, after one attempt', async (_answer, script, reason) => {
    const { outcome, requests } = await signIn(script);

    expect(outcome).toMatchObject({ name: 'SessionServiceUnavailableError', code: 'SESSION_SERVICE_UNAVAILABLE', statusCode: 503, reason });
    expect(requests).toHaveLength(1);
  });

  it('that takes too long says that its outcome is unknown', async () => {
    const { outcome } = await signIn(silence);

    expect((outcome as Error).message).toMatch(/unknown/);
  });

  it('waits as long as a busy service asks for', async () => {
    expect((await signIn(reply(429, '', { 'retry-after': '7' }))).outcome).toMatchObject({ retryAfterSeconds: 7 });
  });

  it.each([{}, { username: 'ann' }, { password: 'x' }, { username: 7, password: 'x' }, { username: 'ann', password: null }, null, 'ann'])(
    'without a username and a password is no request: %j',
    async (credentials) => {
      const { outcome, requests } = await signIn(json(SESSION), credentials as Credentials);

      expect(outcome).toMatchObject({ name: 'InvalidRequestError' });
      expect(requests).toHaveLength(0);
    },
  );

  it.each(['', 'i v', 'iv\r\nX-API-KEY: other', 'ö'])('with an IV that cannot be sent is no request: %j', async (authIv) => {
    const { outcome, requests } = await signIn(json(SESSION), ANN, authIv);

    expect(outcome).toMatchObject({ name: 'InvalidRequestError' });
    expect(requests).toHaveLength(0);
  });
});
