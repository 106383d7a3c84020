import { deepEqual, equal } from 'node:assert/strict';
import fastifyCookie from '@fastify/cookie';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule, configure } from '../dist/browsers/src/app.module.js';
import { bodyOf, expectStatus, start, trial } from './support.mjs';

const FRONT_END = { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' };
const OTHER = { origin: 'https://blog.example.com', 'sec-fetch-site': 'same-site' };

await trial('Browsers', async () => {
  const fastify = new FastifyAdapter();
  await fastify.register(fastifyCookie);
  for (const adapter of [undefined, fastify]) {
    const { sessions, ask, post } = await start(AppModule, (moduleRef) =>
      configure(moduleRef.createNestApplication(adapter)),
    );
    const ann = { username: 'ann', password: 'ann-demo' };
    sessions.addUser(ann);
    const signIn = (page) => post('/session', ann, page);
    const addNote = (page, cookie) => ask('/notes', { ...page, cookie }, { method: 'POST' });

    equal((await bodyOf(signIn(OTHER), 403)).code, 'CROSS_ORIGIN_DENIED');
    const [setCookie] = (await expectStatus(signIn(FRONT_END), 204)).headers.getSetCookie();
    const [cookie, ...attributes] = setCookie.split('; ');
    deepEqual(
      [cookie.startsWith('__Host-session='), attributes],
      [true, ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']],
    );

    deepEqual(await bodyOf(addNote(FRONT_END, cookie), 201), { addedBy: 'ann' });
    equal((await bodyOf(addNote(OTHER, cookie), 403)).code, 'CROSS_ORIGIN_DENIED');
    await expectStatus(addNote({}, cookie), 201);
    for (const [page, admitted] of [
      [FRONT_END, FRONT_END.origin],
      [OTHER, null],
    ]) {
      const mine = await expectStatus(ask('/me', { ...page, cookie }), 200);
      equal(mine.headers.get('access-control-allow-origin'), admitted);
    }

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
  }
});
