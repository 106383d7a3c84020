import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { hold, json } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

describe.each(PLATFORMS)('the X-AUTH-IV on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(['iv-1', 'MTIzNDU2Nzg5MDEyMzQ1Ng==', '!#$%&\'*+,-./:;<=>?@[]^_`{|}~"\\', 'i'.repeat(4096)])(
    'goes upstream as it came: %.20s',
    async (iv) => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url });
      const reply = await sendRaw(app.url, { lines: [`X-AUTH-TOKEN: ${service.signInAs({})}`, `x-Auth-iv: ${iv}`] });

      expect(reply.status).toBe(200);
      expect(service.requests.map(({ headers }) => headers['x-auth-iv'])).toEqual([iv]);
    },
  );

  it('is not sent when the caller sends none', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    await app.get('/me', service.signInAs({}));

    expect(service.requests[0]?.headers).not.toHaveProperty('x-auth-iv');
  });

  it('is a part of the session: one token under three IVs is asked for three times, even at once', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);

    const first = app.get('/me', 'token');
    await held.arrived;
    const others = ['iv-1', 'iv-2'].map((iv) => app.get('/me', 'token', { 'x-auth-iv': iv }));
    held.release();

    expect((await Promise.all([first, ...others])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(service.requests.map(({ headers }) => headers['x-auth-iv']).sort()).toEqual(['iv-1', 'iv-2', undefined]);
  });
});
