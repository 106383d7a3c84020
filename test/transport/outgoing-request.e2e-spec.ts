import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

describe.each(PLATFORMS)('the request that goes upstream from %s', (_name, platform) => {
  const bed = testbed(platform);

  it('carries the key, the token and what HTTP needs, and nothing else of the caller', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const token = service.signInAs({});
    await app.get('/me?page=2', token, {
      ...{ authorization: 'Bearer x', cookie: 'a=b', 'user-agent': 'agent', referer: 'http://a.example', origin: 'http://a.example' },
      ...{
        'x-forwarded-for': '10.0.0.1',
        forwarded: 'for=10.0.0.1',
        traceparent: '00-1-1-00',
        'accept-language': 'de',
        accept: 'text/html',
      },
      ...{ 'x-api-key': 'the key of the caller', 'content-type': 'text/plain', 'if-none-match': '"1"', 'x-auth-iv': 'iv-1' },
    });

    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/authentication/user_details', body: '' });
    expect(request?.headers).toEqual({
      host: new URL(service.url).host,
      connection: 'keep-alive',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'x-api-key': 'application-key',
      'x-auth-token': token,
      'x-auth-iv': 'iv-1',
    });
  });

  it('writes the header names as the interface does', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    await app.get('/me', service.signInAs({}), { 'x-auth-iv': 'iv-1' });

    expect(service.requests[0]?.rawHeaders).toEqual(expect.arrayContaining(['X-API-KEY', 'X-AUTH-TOKEN', 'X-AUTH-IV']));
  });

  it.each(['GET', 'HEAD'])('is the same GET for a %s', async (method) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const reply = await fetch(`${app.url}/me`, { method, headers: { 'x-auth-token': service.signInAs({}) } });

    expect(reply.status).toBe(200);
    expect(service.requests.map((request) => request.method)).toEqual(['GET']);
  });
});
