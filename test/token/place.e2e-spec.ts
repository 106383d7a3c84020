import { describe, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { testbed } from '../support/testbed.js';

@Controller('forms')
class FormsController {
  @Post()
  send(): string {
    return 'sent';
  }
}

describe.each(PLATFORMS)('the place of the token on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([
    ['the query', { path: '/me?x-auth-token=good&X-AUTH-TOKEN=good&token=good&auth_token=good' }],
    ['a cookie', { lines: ['Cookie: x-auth-token=good; auth_token=good; token=good'] }],
    ['the Authorization header', { lines: ['Authorization: Bearer good'] }],
    ['a header X_AUTH_TOKEN', { lines: ['X_AUTH_TOKEN: good'] }],
    ['a header XAUTHTOKEN', { lines: ['XAUTHTOKEN: good'] }],
    ['the IV', { lines: ['X-AUTH-IV: good'] }],
  ])('is not %s: 401 and no call to the service', async (_place, request) => {
    const service = await bed.service();
    service.signInAs({}, 'good');
    const app = await bed.sample({ baseUrl: service.url });
    const reply = await sendRaw(app.url, request);

    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe('X-Auth-Token realm="session"');
    expect(service.requests).toHaveLength(0);
  });

  it('is not the body: 401 and no call to the service', async () => {
    const service = await bed.service();
    service.signInAs({}, 'good');
    const app = await bed.sample({ baseUrl: service.url, options: { protectAllRoutes: true }, controllers: [FormsController] });
    const reply = await fetch(`${app.url}/forms`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'x-auth-token': 'good', auth_token: 'good', token: 'good' }),
    });

    expect(reply.status).toBe(401);
    expect(service.requests).toHaveLength(0);
  });
});
