import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type ReferenceService, startReferenceService } from 'session-service';
import { CapturedLog } from '../support/captured-log.js';
import { describeWithPostgres, PostgresServer } from '../support/postgres.js';
import { SilentProxy } from '../support/silent-proxy.js';
import { signIn, signOut, tokenFrom, userDetails } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import { type WireReply } from './send.js';

describeWithPostgres('the service on a PostgreSQL that fails', () => {
  let server: PostgresServer;
  let databaseUrl: string;
  let log: CapturedLog;
  const running: ReferenceService[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start();
  });

  beforeEach(async () => {
    databaseUrl = await server.createDatabase();
    log = new CapturedLog();
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.close()));
  });

  afterAll(() => server.stop());

  const start = async (url = databaseUrl): Promise<ReferenceService> => {
    const service = await startReferenceService({ databaseUrl: url, logger: log });
    running.push(service);
    return service;
  };

  /** The first answer that is not 503. A connection that broke unnoticed may cost a request each. */
  const answerAfterOutage = async (request: () => Promise<WireReply>): Promise<WireReply> => {
    for (;;) {
      const reply = await request();
      if (reply.status !== 503) return reply;
    }
  };

  it('has lost no sign-out when the server is killed right after its 200, answers 503 meanwhile, and goes on by itself', async () => {
    const { url } = await start();
    const [ended, goesOn] = [await tokenFrom(url), await tokenFrom(url)];
    const workers = await server.workers();
    expectEmpty(await signOut(url, ended), 200);
    await server.kill(workers);

    for (const request of [() => userDetails(url, goesOn), () => signOut(url, goesOn), () => signIn(url)]) {
      const reply = await request();
      expectEmpty(reply, 503);
      expect(reply.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
    }
    await server.run();
    expectUserRecord(await answerAfterOutage(() => userDetails(url, goesOn)));
    expectEmpty(await answerAfterOutage(() => userDetails(url, ended)), 401);
  });

  it('tells the operator of an outage once, and shows no secret', async () => {
    const { url } = await start();
    const token = await tokenFrom(url);
    await server.kill(await server.workers());
    for (let request = 0; request < 5; request += 1) expectEmpty(await userDetails(url, token), 503);
    await server.run();

    expect(log.having('error', 'The database is not available')).toHaveLength(1);
    for (const secret of [server.password, token]) expect(log.lines.join('\n')).not.toContain(secret);
  });

  it('answers as before when the server has ended its idle connections', async () => {
    const { url } = await start();
    const token = await tokenFrom(url);
    await server.ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'session-service'");

    expectUserRecord(await answerAfterOutage(() => userDetails(url, token)));
  });

  it('answers 503 when the network swallows everything, and as before once it does not, as no mute connection is used again', async () => {
    const proxy = await SilentProxy.to(server.port);
    try {
      const { url } = await start(server.urlOf(new URL(databaseUrl).pathname.slice(1), server.password, proxy.port));
      const token = await tokenFrom(url);

      proxy.fallSilent();
      const replies = await Promise.all(Array.from({ length: 20 }, () => userDetails(url, token)));
      expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(503));
      proxy.speak();
      expectUserRecord(await userDetails(url, token));
    } finally {
      await proxy.close();
    }
  });

  it('answers 503 when a statement is held up by a lock', async () => {
    const { url } = await start();
    const token = await tokenFrom(url);
    const holder = new Client({ connectionString: databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin; lock table sessions in access exclusive mode');
      expectEmpty(await userDetails(url, token), 503);
    } finally {
      await holder.end();
    }
    expectUserRecord(await userDetails(url, token));
  });
});
