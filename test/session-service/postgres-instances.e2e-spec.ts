import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Client } from 'pg';
import { startReferenceService, type ReferenceService } from 'session-service';
import { inLongForm } from '../support/long-form.js';
import { describeWithPostgres, PostgresServer } from '../support/postgres.js';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { CapturedLog } from '../support/captured-log.js';
import { signIn, signOut, tokenFrom, userDetails } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import {
  compileService,
  runAdministrationProcess,
  runServiceToItsEnd,
  ServiceProcesses,
  type ServiceProcess,
  type ServiceProgram,
} from './service-process.js';
import type { WireReply } from './send.js';

(inLongForm('the service on PostgreSQL, as processes') ? describeWithPostgres : describe.skip)(
  'the service on PostgreSQL, as processes',
  () => {
    let server: PostgresServer;
    let program: ServiceProgram;
    let DATABASE_URL: string;
    const services = new ServiceProcesses();

    beforeAll(async () => {
      [server, program] = await Promise.all([PostgresServer.start(), compileService()]);
    });

    beforeEach(async () => {
      DATABASE_URL = await server.createDatabase();
    });

    afterEach(async () => {
      await services.killAll();
    });

    afterAll(async () => {
      await Promise.all([server.stop(), program.remove()]);
    });

    const start = (databaseUrl = DATABASE_URL): Promise<ServiceProcess> =>
      services.start(program, { DATABASE_URL: databaseUrl });

    it('refuses a session on one instance as soon as it ended on another, and accepts one that began on another', async () => {
      const [one, other] = await Promise.all([start(), start()]);
      for (let round = 0; round < 10; round += 1) {
        const token = await tokenFrom(one.url);
        expectUserRecord(await userDetails(other.url, token));
        expectEmpty(await signOut(one.url, token), 200);
        expectEmpty(await userDetails(other.url, token), 401);
      }
    });

    const administer: typeof runServiceToItsEnd = (to, environment) =>
      runAdministrationProcess(to, ['add-user', 'ann'], environment);

    it('ends with exit code 0 on SIGTERM while its database does not answer', async () => {
      const proxy = await MeddlingProxy.to(server.port);
      try {
        const service = await start(
          server.urlOf(new URL(DATABASE_URL).pathname.slice(1), server.password, proxy.port),
        );
        const token = await tokenFrom(service.url);
        proxy.fallSilent();
        const unanswered = Promise.allSettled(
          Array.from({ length: 20 }, () => userDetails(service.url, token)),
        );

        await expect(service.end('SIGTERM')).resolves.toMatchObject({ code: 0 });
        await unanswered;
      } finally {
        await proxy.close();
      }
    });

    it.each<[what: string, url: () => string, reason: RegExp]>([
      ['is no URL', () => 'canary-host and canary-password', /must be a URL/],
      ['has a wrong password', () => server.urlOf('postgres', 'canary'), /refuses the user or the password/],
    ])(
      'says in one line, without showing it, that a DATABASE_URL stops it that %s',
      async (_what, url, reason) => {
        for (const run of [runServiceToItsEnd, administer]) {
          const { code, output } = await run(program, { DATABASE_URL: url(), USER_PASSWORD: 'open sesame' });
          expect(code).toBe(1);
          expect(output).toMatch(/^session-service( admin)?: [^\n]*DATABASE_URL[^\n]*\n$/);
          expect(output).toMatch(reason);
          expect(output).not.toContain('canary');
        }
      },
    );

    it('does not wait forever at startup for a database that accepts connections and never replies', async () => {
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const { code, output } = await runServiceToItsEnd(program, {
        DATABASE_URL: server.urlOf('postgres', 'canary', port),
      });
      silent.close();

      expect({ code, output }).toEqual({
        code: 1,
        output:
          'session-service: the database that DATABASE_URL names cannot be opened: the server did not respond in time\n',
      });
    });
  },
);

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

  it('loses no sign-out if the server is killed right after its 200, answers 503 and logs one line without a secret meanwhile, and recovers by itself', async () => {
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
    expect(log.having('error', 'The database is not available')).toHaveLength(1);
    for (const secret of [server.password, goesOn]) expect(log.lines.join('\n')).not.toContain(secret);
    await server.run();
    expectUserRecord(await answerAfterOutage(() => userDetails(url, goesOn)));
    expectEmpty(await answerAfterOutage(() => userDetails(url, ended)), 401);
  });

  it('answers 503 when the network swallows everything, and as before once it does not, as no mute connection is used again', async () => {
    const proxy = await MeddlingProxy.to(server.port);
    try {
      const { url } = await start(
        server.urlOf(new URL(databaseUrl).pathname.slice(1), server.password, proxy.port),
      );
      const token = await tokenFrom(url);

      proxy.fallSilent();
      const replies = await Promise.all(Array.from({ length: 20 }, () => userDetails(url, token)));
      expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(503));
      proxy.restore();
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
