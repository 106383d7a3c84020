import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { testbed } from '../support/testbed.js';

const CHALLENGE = 'X-Auth-Token realm="session"';
const REFUSED = 'X-Auth-Token realm="session", error="invalid_token"';

describe.each(PLATFORMS)('the presented token on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('lets a valid session in and asks the service once', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const reply = await app.get('/me', service.signInAs({ username: 'ann', role: 'hiring_manager' }));

    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ username: 'ann', role: 'hiring_manager' });
    expect(service.callsTo('user_details')).toBe(1);
  });

  it.each([
    ['there is no token', []],
    ['the token is empty', ['X-AUTH-TOKEN:']],
    ['the token is of blanks only', ['X-AUTH-TOKEN: \t  ']],
  ])('asks for a token, and the service nothing, when %s', async (_case, lines) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const reply = await sendRaw(app.url, { lines });

    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe(CHALLENGE);
    expect(JSON.parse(reply.body)).toEqual({
      statusCode: 401,
      code: 'SESSION_REQUIRED',
      error: 'Unauthorized',
      message: 'A session token is required',
    });
    expect(service.requests).toHaveLength(0);
  });

  it.each([
    ['sent twice with the same value', ['X-AUTH-TOKEN: good', 'X-AUTH-TOKEN: good']],
    ['sent twice with different values', ['X-AUTH-TOKEN: good', 'X-AUTH-TOKEN: other']],
    ['sent twice in different cases', ['X-AUTH-TOKEN: good', 'x-auth-token: good']],
    ['sent twice, the first time empty', ['X-AUTH-TOKEN:', 'X-AUTH-TOKEN: good']],
    ['sent twice, the second time empty', ['X-AUTH-TOKEN: good', 'X-AUTH-TOKEN:']],
    ['sent twice, both empty', ['X-AUTH-TOKEN:', 'X-AUTH-TOKEN:']],
    ['sent three times', ['X-AUTH-TOKEN: good', 'X-AUTH-TOKEN: good', 'X-AUTH-TOKEN: good']],
    ['with a space inside', ['X-AUTH-TOKEN: go od']],
    ['with a tab inside', ['X-AUTH-TOKEN: go\tod']],
    ['with a comma and a space', ['X-AUTH-TOKEN: good, good']],
    ['with byte 0x80', ['X-AUTH-TOKEN: good\x80']],
    ['with byte 0xff', ['X-AUTH-TOKEN: \xffgood']],
    ['with two bytes of UTF-8', ['X-AUTH-TOKEN: g\xc3\xb6d']],
  ])('refuses a token that is %s, and asks the service nothing', async (_case, lines) => {
    const service = await bed.service();
    service.signInAs({}, 'good');
    const app = await bed.sample({ baseUrl: service.url });
    const reply = await sendRaw(app.url, { lines });

    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe(REFUSED);
    expect(JSON.parse(reply.body)).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
    expect(service.requests).toHaveLength(0);
  });

  it.each([
    [16, 16, 200, 1],
    [16, 17, 401, 0],
    [undefined, 4096, 200, 1],
    [undefined, 4097, 401, 0],
  ])('with maxTokenLength %p answers a token of %p bytes with %p, after %p calls', async (maxTokenLength, length, status, calls) => {
    const service = await bed.service();
    const token = service.signInAs({}, 't'.repeat(length));
    const app = await bed.sample({ baseUrl: service.url, options: maxTokenLength ? { http: { maxTokenLength } } : {} });

    expect((await app.get('/me', token)).status).toBe(status);
    expect(service.callsTo('user_details')).toBe(calls);
  });

  it('takes every visible ASCII character in a token, and sends it on unchanged', async () => {
    const service = await bed.service();
    const token = service.signInAs({}, String.fromCharCode(...Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) => 0x21 + index)));
    const app = await bed.sample({ baseUrl: service.url });

    expect((await sendRaw(app.url, { lines: [`X-AUTH-TOKEN: ${token}`] })).status).toBe(200);
    expect(service.requests[0]?.headers['x-auth-token']).toBe(token);
  });

  it.each(['X-AUTH-TOKEN', 'x-auth-token', 'X-Auth-Token', 'x-AuTh-ToKeN'])('finds the header under the name %s', async (name) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const reply = await sendRaw(app.url, { lines: [`${name}: ${service.signInAs({})}`] });

    expect(reply.status).toBe(200);
  });

  it('refuses a session from the moment it has ended', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const token = service.signInAs({});
    expect((await app.get('/me', token)).status).toBe(200);

    service.revoke(token);
    const reply = await app.get('/me', token);

    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe(REFUSED);
    expect(service.callsTo('user_details')).toBe(2);
  });
});
