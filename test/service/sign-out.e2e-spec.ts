import { describe, expect, it } from '@jest/globals';
import { drop, inTurn, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { totalTimeFor } from '../support/total-time.js';

describe('a sign-out', () => {
  const bed = testbed();

  async function signOut(script: Script, token = 'token', authIv?: string) {
    const service = await bed.service();
    service.on('sign_out', script);
    const sessions = await bed.sessions({ baseUrl: service.url, options: { signOutTimeoutMs: totalTimeFor(script) } });
    const call = authIv === undefined ? {} : { authIv };
    const outcome: unknown = await sessions.signOut(token, call).catch((error: unknown) => error);
    return { outcome, requests: service.requests };
  }

  it.each([200, 401, 404])('that is answered %p is done, after one attempt', async (status) => {
    const { outcome, requests } = await signOut(reply(status));

    expect(outcome).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Script, object]>([
    ['400', reply(400), { name: 'InvalidRequestError', statusCode: 400 }],
    ['403', reply(403), { name: 'AccessDeniedError', statusCode: 403 }],
    ['500', reply(500), { name: 'SessionServiceUnavailableError', reason: 'server_error' }],
    ['503 and then 200', inTurn(reply(503), reply(200)), { name: 'SessionServiceUnavailableError', reason: 'server_error' }],
    ['202', reply(202), { name: 'SessionServiceUnavailableError', reason: 'unexpected_status' }],
    ['204', reply(204), { name: 'SessionServiceUnavailableError', reason: 'unexpected_status' }],
    ['302', reply(302, '', { location: '/' }), { name: 'SessionServiceUnavailableError', reason: 'unexpected_status' }],
    ['429', reply(429, '', { 'retry-after': '500' }), { name: 'SessionServiceUnavailableError', retryAfterSeconds: 120 }],
    ['a reset and then 200', inTurn(drop, reply(200)), { name: 'SessionServiceUnavailableError', reason: 'unreachable' }],
    ['silence', silence, { name: 'SessionServiceUnavailableError', reason: 'timeout' }],
  ])('that is answered with %s fails with its own error, after one attempt', async (_answer, script, error) => {
    const { outcome, requests } = await signOut(script);

    expect(outcome).toBeInstanceOf(Error);
    expect(outcome).toMatchObject(error);
    expect(requests).toHaveLength(1);
  });

  it('sends what the interface lists and nothing else', async () => {
    const { requests } = await signOut(reply(200), 'token', 'iv-1');
    const [request] = requests;

    expect(request).toMatchObject({ method: 'DELETE', path: '/authentication', body: '' });
    expect(request?.headers).toEqual({
      host: expect.any(String) as unknown,
      connection: 'close',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'x-api-key': 'application-key',
      'x-auth-token': 'token',
      'x-auth-iv': 'iv-1',
    });
  });

  it('ends the session for the next check', async () => {
    const service = await bed.service();
    const sessions = await bed.sessions({ baseUrl: service.url });
    const token = service.signInAs({});
    service.on('sign_out', (request, response) => {
      service.revoke(String(request.headers['x-auth-token']));
      response.writeHead(200).end();
    });
    await sessions.verify(token);
    await sessions.signOut(token);

    await expect(sessions.verify(token)).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
  });
});
