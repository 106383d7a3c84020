import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Logger, type INestApplication, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { SessionAuthDecision, SessionAuthEvents } from 'nestjs-session-auth';
import { TestSessions, type SessionHeaders } from 'nestjs-session-auth/testing';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Subject } from 'rxjs';
import { CapturedLog } from '../support/captured-log.js';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';
import { EXPRESS } from '../support/platforms.js';
import { describeWithPostgres, PostgresServer } from '../support/postgres.js';
import { until } from '../support/until.js';

interface Trail {
  readonly lost: number;
  onModuleInit(): void;
  onApplicationShutdown(): Promise<void>;
}

interface DatabaseOfGuide {
  query(text: string, values: unknown[]): Promise<unknown>;
}

interface AuditTrailModule {
  readonly AuditTrail: new (
    events: Pick<SessionAuthEvents, 'decisions$'>,
    database: DatabaseOfGuide,
  ) => Trail;
}

const MAX_WAITING = 50_000;
/** Each must be denied: a denial that holds now and then is none. */
const DENIALS = 10;
const DECISION: SessionAuthDecision = {
  isAllowed: true,
  outcome: 'authenticated',
  kind: 'http',
  controller: 'OpeningsController',
  handler: 'list',
  atMs: 1_700_000_000_000,
};

/** The decisions that are missing in the table. */
const GAPS = `
  select number - previous - 1 as lost
  from (
    select number, lag(number, 1, 0::bigint) over (partition by run order by number) as previous
    from decisions
  ) as lines
  where number > previous + 1`;

describeWithPostgres('the audit trail of its guide, on PostgreSQL', () => {
  const sessions = new TestSessions();
  const log = new CapturedLog();
  let server: PostgresServer;
  let databaseUrl: string;
  let table = '';
  let trail: GuideCode<AuditTrailModule>;
  let database: GuideCode<{ readonly Database: new () => DatabaseOfGuide }>;
  let root: GuideCode<{ readonly AppModule: Type }>;
  let app: INestApplication | undefined;

  beforeAll(async () => {
    server = await PostgresServer.start();
    const guide = await readFile(join(import.meta.dirname, '../../docs/audit-trail.md'), 'utf8');
    table = /(?<=```sql\n)[^`]+/.exec(guide)?.[0] ?? '';
    root = await importFromGuide('audit-trail.md', 'src/app.module.ts');
    [trail, database] = [
      await importFromGuide<AuditTrailModule>('audit-trail.md', 'src/audit-trail.ts'),
      await importFromGuide('audit-trail.md', 'src/database.ts'),
    ];
  });
  beforeEach(async () => {
    databaseUrl = await server.createDatabase();
    process.env.DATABASE_URL = databaseUrl;
    await rows(table);
    log.lines.length = 0;
    Logger.overrideLogger(log);
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
    Logger.overrideLogger(false);
  });
  afterAll(async () => {
    for (const guide of [root, trail, database]) await guide.remove();
    await server.stop();
  });

  const rows = (sql: string): Promise<Record<string, unknown>[]> => server.ask(sql, databaseUrl);
  const count = async (): Promise<number> => Number((await rows('select count(*) from decisions'))[0]?.count);

  /** Stops the server with all its processes, as the loss of its machine does. */
  const stopDatabase = async (): Promise<void> => server.kill(await server.workers());

  async function start(): Promise<(headers?: SessionHeaders) => Promise<number>> {
    const moduleRef = await sessions
      .install(Test.createTestingModule({ imports: [root.module.AppModule] }))
      .compile();
    const started = (app = moduleRef.createNestApplication(await EXPRESS(), { logger: log }));
    await started.listen(0, '127.0.0.1');
    const url = await started.getUrl();
    return async (headers) => (await fetch(`${url}/openings`, { headers: headers ?? {} })).status;
  }

  /** The service of the guide, with decisions that the test emits. */
  function trailOf(query: DatabaseOfGuide['query'] | undefined): {
    readonly decide: (times: number) => void;
    readonly written: Trail;
  } {
    const decisions = new Subject<SessionAuthDecision>();
    const real = new database.module.Database();
    if (query) Object.assign(real, { query });
    const written = new trail.module.AuditTrail({ decisions$: decisions }, real);
    written.onModuleInit();
    return { decide: (times) => Array.from({ length: times }, () => decisions.next(DECISION)), written };
  }

  it('has one line for each decision, without the token, when the application has closed', async () => {
    const ask = await start();
    const ann = sessions.signInAs({ username: 'ann', role: 'hiring_manager' });
    const odd = sessions.signInAs({ username: 'b\u0000b \ud800', role: 'new_hire' });
    const statuses = [await ask(ann)];
    for (let round = 0; round < DENIALS; round += 1) statuses.push(await ask(odd), await ask());
    expect(statuses).toEqual([200, ...Array.from({ length: DENIALS }, () => [403, 401]).flat()]);
    await app?.close();

    const call = ['http', 'OpeningsController.list', 'GET /openings'];
    const rule = '@Roles(hiring_manager)';
    const lines = await rows('select * from decisions order by number');
    expect(
      lines.map((line) => [
        ...[Number(line.number), line.allowed, line.outcome, line.code, line.rule, line.kind],
        ...[line.handler, line.target, line.username],
      ]),
    ).toEqual([
      [1, true, 'authenticated', null, null, ...call, 'ann'],
      ...Array.from({ length: DENIALS }, (_, round) => [
        [2 + 2 * round, false, 'forbidden', 'ACCESS_DENIED', rule, ...call, 'b\ufffdb \ufffd'],
        [3 + 2 * round, false, 'unauthenticated', 'SESSION_REQUIRED', null, ...call, null],
      ]).flat(),
    ]);
    expect(Math.abs(Date.now() - Number(lines[0]?.at))).toBeLessThan(600_000);
    expect(JSON.stringify(lines)).not.toContain(ann['x-auth-token']);
  });

  it('has every decision once after the database was restarted, and the guard answers meanwhile', async () => {
    const ask = await start();
    const ann = sessions.signInAs({ username: 'ann', role: 'hiring_manager' });
    expect(await ask(ann)).toBe(200);
    await until('the first line is written', async () => (await count()) === 1);
    await stopDatabase();
    expect(await Promise.all(Array.from({ length: 20 }, () => ask(ann)))).toEqual(Array(20).fill(200));
    await until(
      'a failed insert is logged',
      () => log.having('warn', 'decisions wait, 0 are lost').length > 0,
    );
    await server.run();

    await until('every line is written', async () => (await count()) === 21);
    expect(await rows('select count(distinct run) as runs from decisions')).toEqual([{ runs: '1' }]);
    expect(await rows(GAPS)).toEqual([]);
  });

  it('counts lost decisions while too many wait, and the gap in the numbers shows them', async () => {
    let isDown = true;
    const real = new database.module.Database();
    const { decide, written } = trailOf(async (text, values) => {
      if (isDown) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
      return real.query(text, values);
    });
    decide(MAX_WAITING + 123);
    const line = 'insert failed (ECONNREFUSED): 50000 decisions wait, 123 are lost';
    await until('a failed insert is logged', () => log.having('warn', line).length > 0);
    isDown = false;
    await until('the lines that waited are written', async () => (await count()) === MAX_WAITING);
    decide(1);
    await written.onApplicationShutdown();

    expect([await count(), written.lost]).toEqual([MAX_WAITING + 1, 123]);
    expect(await rows(GAPS)).toEqual([expect.objectContaining({ lost: '123' })]);
    expect(log.having('error', '123 decisions were not recorded')).toHaveLength(1);
    await (real as unknown as { end(): Promise<void> }).end();
  });

  it('writes a batch once whose answer was lost', async () => {
    const real = new database.module.Database();
    let sent = 0;
    const { decide, written } = trailOf(async (text, values) => {
      await real.query(text, values);
      if ((sent += 1) === 1) throw new Error('the answer is lost');
    });
    decide(10);
    await until('the batch is sent again', () => sent === 2);
    await written.onApplicationShutdown();

    expect([await count(), written.lost]).toEqual([10, 0]);
    await (real as unknown as { end(): Promise<void> }).end();
  });
});
