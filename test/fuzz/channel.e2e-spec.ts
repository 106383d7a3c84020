import { afterEach, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { SessionAuthService } from 'nestjs-session-auth';
import { json, reply, startSessionService } from 'nestjs-session-auth/testing';
import { sampleApp } from '../support/sample-app.js';
import { channelCase, SECRETS } from './channel-arbitraries.js';
import { ChannelTrial } from './channel-trial.js';
import { QuietStore } from './quiet-store.js';
import { Counts, failOnRejections, limitMs, runsOf, tryCases } from './runs.js';

const runs = runsOf('the revocation bus', 600, 0.25);
const closing: (() => Promise<unknown>)[] = [];
failOnRejections();

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it(
  'revokes the sessions that a message of the fleet names, and none by any other bytes on the channel',
  async () => {
    const service = await startSessionService();
    closing.push(() => service.close());
    const calls = new Map<string, number>();
    service.on('user_details', (request, ...rest) => {
      const token = String(request.headers['x-auth-token']);
      const [, username] = token.split('.');
      calls.set(token, (calls.get(token) ?? 0) + 1);
      service.requests.length = 0;
      (username === undefined ? reply(401) : json({ username }))(request, ...rest);
    });
    const store = new QuietStore(SECRETS);
    const cache = { ttlMs: 300_000, maxEntries: 1_000, store };
    const root = sampleApp({ baseUrl: service.url, options: { cache }, controllers: [] });
    const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    closing.push(() => context.close());
    const counts = new Counts();
    const trial = new ChannelTrial(
      context.get(SessionAuthService),
      store,
      { url: service.url, calls },
      counts,
    );

    await tryCases(
      'the revocation bus',
      runs,
      channelCase,
      async (one) => expect(await trial.run(one)).toBeUndefined(),
      counts,
    );

    expect(await trial.refusesStrangers()).toBe(true);
    expect(counts.get('sessions checked again') ?? 0).toBeGreaterThan(runs.cases / 4);
    expect(counts.get('sessions of revoked users checked once more') ?? 0).toBeLessThan(1 + runs.cases / 100);
    expect(counts.get('sessions kept') ?? 0).toBeGreaterThan(runs.cases);
  },
  limitMs(runs),
);
