import 'reflect-metadata';
import { Controller, Get, Module, UseGuards, type Type } from '@nestjs/common';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import {
  CurrentUser,
  SessionAuthEvents,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
} from 'nestjs-session-auth';
import { startSessionService } from 'nestjs-session-auth/testing';
import { type Code, late, MISBEHAVIOURS, PATIENT_MS, SECRET, setupAt } from './application-code-places.js';
import type { Misbehaviour, Outcome, Row } from './application-code-rows.js';

/** Longer than any machine takes: a row that fails must not hide the others. */
const HANGS_MS = 20_000;
/** Of code that never settles. */
const TIMEOUT_MS = 400;

const TAKES_TOO_LONG: ReadonlySet<Misbehaviour> = new Set(['rejects late', 'never settles']);

/** Whether a call waits until the code at a place has settled, for as long as `timeoutMs`. */
const isAwaited = (place: string): boolean => /rule|policy|loadUser|apiKey/.test(place);

/** Loads one platform alone: a process starts sooner. */
async function adapterOf(name: string): Promise<AbstractHttpAdapter> {
  if (name === 'Fastify') return new (await import('@nestjs/platform-fastify')).FastifyAdapter();
  return new (await import('@nestjs/platform-express')).ExpressAdapter();
}

function controllerWith(rule: MethodDecorator): Type {
  @Controller()
  @UseGuards(SessionAuthGuard)
  class OpeningsController {
    @Get('me')
    @rule
    me(@CurrentUser() user: unknown): unknown {
      return user;
    }
  }
  return OpeningsController;
}

const [platform] = process.argv.slice(2) as [string];
const service = await startSessionService();
service.addUser({ username: 'ann', password: 'x' }, { username: 'ann' });
const strays: string[] = [];
for (const event of ['unhandledRejection', 'uncaughtException'])
  process.on(event, (reason: unknown) =>
    strays.push(`${event}: ${reason instanceof Error ? reason.stack : String(reason)}`),
  );

/**
 * Resolves when everything has been reported that a row has left behind: rejections after the current turn,
 * errors that RxJS throws from a timer in the next.
 */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setTimeout(resolve, 1));
  await new Promise((resolve) => setImmediate(resolve));
}

async function start({ place, misbehaviour }: Row) {
  let act = (good: unknown): unknown => good;
  const code: Code = (good) => act(good) as typeof good;
  const setup = setupAt(place, code);
  const lines: string[] = [];
  const keep = (line: unknown): void => void lines.push(String(line));
  const isSlow = isAwaited(place) && TAKES_TOO_LONG.has(misbehaviour);

  @Module({
    imports: [
      SessionAuthModule.forRoot({
        baseUrl: service.url,
        apiKey: 'application-key',
        cache: { ttlMs: 300_000 },
        retry: false,
        timeoutMs: isSlow ? TIMEOUT_MS : PATIENT_MS,
        ...setup.options,
      }),
    ],
    controllers: [controllerWith(setup.rule ?? (() => undefined))],
    providers: [...(setup.providers ?? [])],
  })
  class Root {}
  const logger = { log: () => undefined, warn: keep, error: keep, debug: keep };
  if (place === 'subscribe() of the store') act = MISBEHAVIOURS[misbehaviour];
  const app = await NestFactory.create(Root, await adapterOf(platform), { logger, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const token = service.signInAs({ username: 'ann', motto: 'onward' } as object);
  const ask = async (): Promise<string> => {
    const reply = await fetch(`${url}/me`, { headers: { 'x-auth-token': token } });
    const text = await reply.text();
    if (text.includes(SECRET)) return 'the secret';
    const { code: answer = '' } = reply.ok ? {} : (JSON.parse(text) as { code?: string });
    return `${reply.status} ${answer}`.trim();
  };
  const running = { events: app.get(SessionAuthEvents), sessions: app.get(SessionAuthService), token, ask };
  setup.prepare?.(running);
  // Its session is cached then, and nothing else of the row depends on the time.
  if (isSlow && place !== 'the function apiKey')
    for (let answer = ''; answer !== '200';) answer = await ask();
  if (isSlow) lines.splice(0);
  return {
    running,
    setup,
    lines,
    misbehave: () => void (act = MISBEHAVIOURS[misbehaviour]),
    close: () => app.close(),
  };
}

async function run(row: Row): Promise<Outcome> {
  let started: Awaited<ReturnType<typeof start>>;
  try {
    started = await start(row);
  } catch (error) {
    return { ...row, answer: `no start: ${String(error)}`, lines: [], strays: [] };
  }
  const { running, setup, lines, misbehave, close } = started;
  misbehave();
  const answer = await (setup.drive?.(running) ?? running.ask()).catch(
    (error: unknown) => `failed: ${String(error)}`,
  );
  await release();
  const hangs = new Promise((resolve) => setTimeout(resolve, HANGS_MS, ' not closed').unref());
  const closed = await Promise.race([close(), hangs]).catch(
    (error: unknown) => ` not closed: ${String(error)}`,
  );
  await release();
  const ending = typeof closed === 'string' ? closed : '';
  return { ...row, answer: answer + ending, lines, strays: strays.splice(0) };
}

async function release(): Promise<void> {
  for (const reject of late.splice(0)) reject();
  await settled();
}

async function runAll(rows: readonly Row[]): Promise<void> {
  const outcomes: Outcome[] = [];
  for (const row of rows) outcomes.push(await run(row));
  process.send?.(outcomes, () => process.exit(0));
}

process.once('message', (rows: Row[]) => void runAll(rows));
