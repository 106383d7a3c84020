import { equal, ok } from 'node:assert/strict';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { expectStatus, start, trialWithRedis } from './support.mjs';

/** Each import with a name of its own is an instance of its own, with its own connection. */
async function startInstance(platform) {
  const { AppModule } = await import(`../dist/sign-in-limit/src/app.module.js?${platform.constructor.name}`);
  const { sessions, post } = await start(AppModule, (moduleRef) => moduleRef.createNestApplication(platform));
  for (const username of ['ann', 'bob']) sessions.addUser({ username, password: 'secret' });
  const signIn = (username, password, client) =>
    post('/session', { username, password }, { 'x-forwarded-for': client });
  return { signIn };
}

await trialWithRedis('sign-in limit', async (server) => {
  const express = new ExpressAdapter();
  express.set('trust proxy', 'loopback');
  const fastify = new FastifyAdapter({ trustProxy: 'loopback' });
  const instances = [await startInstance(express), await startInstance(fastify)];
  const [one, other] = instances;
  // Ten sign-ins of one name from one client, in several spellings, over both instances.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await expectStatus(one.signIn('ann', 'wrong', '203.0.113.7'), 401);
    await expectStatus(other.signIn(' ANN', 'wrong', '203.0.113.7'), 401);
  }
  for (const { signIn } of instances) {
    const refused = await expectStatus(signIn('ann', 'secret', '203.0.113.7'), 429);
    const seconds = Number(refused.headers.get('retry-after'));
    ok(seconds > 890 && seconds <= 900, `Retry-After: ${seconds}`);
  }
  await expectStatus(other.signIn('ann', 'secret', '198.51.100.9'), 200);
  await expectStatus(one.signIn('bob', 'secret', '203.0.113.7'), 200);
  // A hundred names from one client, at once, over both instances. The addresses of one IPv6 network are
  // one client.
  const sprayed = Array.from({ length: 110 }, (_, index) =>
    instances[index % 2].signIn(`user-${index}`, 'wrong', `2001:db8:1:2::${index + 1}`),
  );
  const statuses = (await Promise.all(sprayed)).map(({ status }) => status);
  equal(statuses.filter((status) => status === 401).length, 100);
  equal(statuses.filter((status) => status === 429).length, 10);
  const client = await expectStatus(one.signIn('bob', 'secret', '2001:db8:1:2::ffff'), 429);
  ok(Number(client.headers.get('retry-after-client')) > 0);
  // Without Redis, no sign-in is unlimited.
  server.kill('SIGKILL');
  for (const { signIn } of instances) await expectStatus(signIn('bob', 'secret', '192.0.2.1'), 500);
});
