import { deepEqual, equal } from 'node:assert/strict';
import fastifyCookie from '@fastify/cookie';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule, configure } from '../dist/browsers/src/app.module.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

const FRONT_END = { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' };
const OTHER = { origin: 'https://blog.example.com', 'sec-fetch-site': 'same-site' };

await trial('Browsers', async () => {
  const fastify = new FastifyAdapter();
  await fastify.register(fastifyCookie);
  for (const adapter of [undefined, fastify]) {
    const { sessions, moduleRef } = await underTest(AppModule);
    sessions.addUser({ username: 'ann', password: 'ann-demo' });
    const { app, ask } = await listening(configure(moduleRef.createNestApplication(adapter)));
    const body = JSON.stringify({ username: 'ann', password: 'ann-demo' });
    const signIn = (page) =>
      ask('/session', { ...page, 'content-type': 'application/json' }, { method: 'POST', body });

    equal((await (await expectStatus(signIn(OTHER), 403)).json()).code, 'CROSS_ORIGIN_DENIED');
    const [setCookie] = (await expectStatus(signIn(FRONT_END), 204)).headers.getSetCookie();
    const [cookie, ...attributes] = setCookie.split('; ');
    deepEqual(
      [cookie.startsWith('__Host-session='), attributes],
      [true, ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']],
    );

    deepEqual(
      await (await expectStatus(ask('/notes', { ...FRONT_END, cookie }, { method: 'POST' }), 201)).json(),
      { addedBy: 'ann' },
    );
    equal(
      (await (await expectStatus(ask('/notes', { ...OTHER, cookie }, { method: 'POST' }), 403)).json()).code,
      'CROSS_ORIGIN_DENIED',
    );
    await expectStatus(ask('/notes', { cookie }, { method: 'POST' }), 201);
    const mine = await expectStatus(ask('/me', { ...FRONT_END, cookie }), 200);
    equal(mine.headers.get('access-control-allow-origin'), FRONT_END.origin);
    equal(
      (await expectStatus(ask('/me', { ...OTHER, cookie }), 200)).headers.get('access-control-allow-origin'),
      null,
    );

    await expectStatus(ask('/session', { ...OTHER, cookie }, { method: 'DELETE' }), 403);
    const expectCookieRemoved = async (status, headers = { cookie }) => {
      const signOut = ask('/session', { ...FRONT_END, ...headers }, { method: 'DELETE' });
      const ended = (await expectStatus(signOut, status)).headers.getSetCookie()[0].split('; ');
      deepEqual(
        ['__Host-session=', 'Path=/', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT', ...attributes].filter(
          (part) => !ended.includes(part),
        ),
        [],
      );
    };
    sessions.setDown(true);
    await expectCookieRemoved(503);
    sessions.setDown(false);
    await expectCookieRemoved(204);
    await expectCookieRemoved(204);
    await expectCookieRemoved(204, {});
    await expectStatus(ask('/me', { cookie }), 401);

    await app.close();
  }
});
