import 'reflect-metadata';
import { channel } from 'node:diagnostics_channel';
import {
  Controller,
  Get,
  Injectable,
  Module,
  Scope,
  UseGuards,
  type Provider,
  type Type,
} from '@nestjs/common';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { Transform } from 'class-transformer';
import { IsOptional, IsString, ValidateBy, ValidateIf } from 'class-validator';
import {
  Authorize,
  CurrentUser,
  SessionAuthEvents,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  UserRecord,
  type SessionAuthExtras,
  type SessionAuthOptions,
  type UserRecordSchema,
} from 'nestjs-session-auth';
import { SessionStore, type StoreEntry } from 'nestjs-session-auth/store';
import { startSessionService } from 'nestjs-session-auth/testing';
import { z } from 'zod';
import type { Misbehaviour, Outcome, Row } from './application-code-rows.js';

/** In the message of every error here: it must not reach the log, nor a caller. */
const SECRET = 'postgres://app:hunter2@db';
const PATIENT_MS = 30_000;
/** Of what never settles: everything else of such a row is cached. */
const TIMEOUT_MS = 400;

const errorOf = (): Error => new Error(SECRET);
/** Promises that reject when their answer is no longer needed. */
const late: (() => void)[] = [];

const MISBEHAVIOURS: Record<Misbehaviour, (good: unknown) => unknown> = {
  throws: () => {
    throw errorOf();
  },
  rejects: () => Promise.reject(errorOf()),
  'rejects late': () => new Promise((_resolve, reject) => late.push(() => reject(errorOf()))),
  'never settles': () => new Promise(() => undefined),
  'returns a promise': (good) => Promise.resolve(good),
  'returns a query': (good) => ({ then: (resolve: (value: unknown) => void) => resolve(good) }),
  'returns a query that throws': () => ({
    then: () => {
      throw errorOf();
    },
  }),
  'returns a query that rejects': () => ({
    then: (_resolve: unknown, reject?: (error: unknown) => void) => reject?.(errorOf()),
  }),
  'returns an object whose then() is unreadable': () => ({
    get then() {
      throw errorOf();
    },
  }),
  'returns nothing': () => undefined,
  'resolves to nothing': () => Promise.resolve(undefined),
  'returns another type': () => Symbol('another type'),
};

/** Code of the application: what it should return, or what a row has it do. */
type Code = <Good>(good: Good) => Good;

interface Running {
  readonly events: SessionAuthEvents;
  readonly sessions: SessionAuthService;
  readonly token: string;
  /** `GET /me`: the status, and the code of an error. */
  ask(): Promise<string>;
}

interface Setup {
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  readonly rule?: MethodDecorator;
  readonly providers?: Provider[];
  /** Before the code misbehaves. */
  readonly prepare?: (running: Running) => unknown;
  readonly drive?: (running: Running) => Promise<string>;
}

function policyOf(code: Code, scope: Scope): Type<{ allows(): boolean }> {
  @Injectable({ scope })
  class Policy {
    allows(): boolean {
      return code(true);
    }
  }
  return Policy;
}

function loaderOf(code: Code): Type<{ load(): object }> {
  @Injectable()
  class Loader {
    load(): object {
      return code({ id: 7 });
    }
  }
  return Loader;
}

const schemaOf = (validate: (value: object) => object): UserRecordSchema => ({
  '~standard': { version: 1, vendor: 'test', validate: validate as never },
});

function recordWith(decorate: PropertyDecorator): typeof UserRecord {
  class Employee extends UserRecord {
    readonly motto?: string;
  }
  decorate(Employee.prototype, 'motto');
  return Employee;
}

const both =
  (...decorators: PropertyDecorator[]): PropertyDecorator =>
  (target, name) =>
    decorators.forEach((decorate) => decorate(target, name));

const zodWith = (motto: z.ZodType): UserRecordSchema =>
  z.object({ username: z.string().optional(), motto: motto.optional() }) as never;

function subscribing(name: keyof SessionAuthEvents, code: Code): Setup {
  return {
    prepare: ({ events }) => {
      const source = events[name] as SessionAuthEvents['ended$'];
      // Also through an operator, and as an object.
      source.subscribe(() => code(undefined));
      source.pipe().subscribe({ next: () => code(undefined) });
    },
    drive: async ({ ask, sessions, token }) => {
      const answer = await ask();
      await sessions.forgetUser('ann');
      await sessions.signOut(token);
      return answer;
    },
  };
}

/** The method of the store that the code is in; the others behave well. */
function storing(method: string, code: Code): Setup {
  const entries = new Map<string, Uint8Array>();
  const run = <Good>(name: string, good: Good): Good => (name === method ? code(good) : good);
  const answers: Partial<SessionStore> = {
    get: (key) => {
      const value = entries.get(key);
      const entry: StoreEntry =
        value === undefined
          ? { kind: 'none', storeTimeMs: Date.now() }
          : { kind: 'value', value, remainingMs: 10_000, storeTimeMs: Date.now() };
      return run('get', Promise.resolve(entry));
    },
    set: (key, value) => {
      entries.set(key, value);
      return run('set', Promise.resolve(true));
    },
    getRevocations: (keys) => run('getRevocations', Promise.resolve(keys.map(() => undefined))),
    subscribe: (subscriber) => {
      subscriber.subscribed();
      return run('subscribe', () => run('unsubscribe', Promise.resolve()));
    },
  };
  const store = Object.create(SessionStore.prototype) as Record<string, unknown>;
  for (const name of [
    'delete',
    'releaseLease',
    'keepAlive',
    'setTombstone',
    'clearTombstone',
    'setRevocation',
    'publish',
  ])
    store[name] = () => run(name, Promise.resolve(true));
  Object.assign(store, answers, {
    secret: ['a secret of the store', 'another secret of the store'],
  });
  return {
    options: { cache: { ttlMs: PATIENT_MS, store: store as never } },
    drive: async ({ ask, sessions, token }) => {
      const answers = [await ask(), '', ''];
      await sessions.forget(token);
      answers[1] = await ask();
      // The lease of a session that is refused is released.
      const refused = await sessions.verify('unknown').catch((error: { statusCode: number }) => error);
      answers[2] = String((refused as { statusCode: number }).statusCode);
      await sessions.forgetUser('ann');
      await sessions.signOut(token);
      const { kind } = await sessions.signIn({ username: 'ann', password: 'x' });
      return [...answers, kind].join(' ');
    },
  };
}

const STORE = /^(\w+)\(\) of the store$/;

const PLACES: Record<string, (code: Code) => Setup> = {
  'a rule': (code) => ({ rule: Authorize(() => code(true)) }),
  'a policy': (code) => ({ rule: Authorize(policyOf(code, Scope.DEFAULT)) }),
  'a scoped policy': (code) => ({ rule: Authorize(policyOf(code, Scope.TRANSIENT)) }),
  'the function loadUser': (code) => ({ options: { loadUser: () => code({ id: 7 }) } }),
  'the class loadUser': (code) => ({ options: { loadUser: loaderOf(code) as never } }),
  'the function apiKey': (code) => ({ options: { apiKey: () => code('application-key') } }),
  'a token source': (code) => ({
    options: { token: (_context, request) => code(request.headers['x-auth-token'] as string) },
  }),
  'the option authority': (code) => ({ options: { authority: () => code('default') } }),
  'a schema': (code) => ({ options: { userRecord: schemaOf((value) => code({ value })) } }),
  'the value of a schema': (code) => ({
    options: { userRecord: schemaOf((value) => ({ value: code(value) })) },
  }),
  'a field of a schema': (code) => ({
    options: { userRecord: schemaOf((value) => ({ value: { ...value, motto: { deep: [code('x')] } } })) },
  }),
  'a transformation of zod': (code) => ({
    options: { userRecord: zodWith(z.string().transform((text) => code(text))) },
  }),
  'a refinement of zod': (code) => ({
    options: { userRecord: zodWith(z.string().refine(() => code(true))) },
  }),
  'a validator of a class': (code) => ({
    options: {
      userRecord: recordWith(ValidateBy({ name: 'motto', validator: { validate: () => code(true) } })),
    },
  }),
  'a condition of a class': (code) => ({
    options: {
      userRecord: recordWith(
        both(
          ValidateIf(() => code(true)),
          IsString(),
        ),
      ),
    },
  }),
  'a transformation of a class': (code) => ({
    options: {
      userRecord: recordWith(
        both(
          Transform(() => code('onward')),
          IsOptional(),
        ),
      ),
    },
  }),
  'a subscriber of a diagnostics channel': (code) => {
    const checks = channel('nestjs-session-auth:check');
    const listener = (): void => code(undefined);
    checks.subscribe(listener);
    return {
      drive: async ({ ask }) => {
        const answer = await ask();
        checks.unsubscribe(listener);
        return answer;
      },
    };
  },
  decisions$: (code) => subscribing('decisions$', code),
  ended$: (code) => subscribing('ended$', code),
  forgottenUsers$: (code) => subscribing('forgottenUsers$', code),
  serviceState$: (code) => ({
    drive: async ({ ask, events }) => {
      events.serviceState$.subscribe(() => code(undefined));
      return ask();
    },
  }),
};

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
    strays.push(`${event}: ${String((reason as Error)?.stack ?? reason)}`),
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

interface Started {
  readonly running: Running;
  readonly setup: Setup;
  readonly lines: string[];
  misbehave(): void;
  close(): Promise<unknown>;
}

async function start({ place, misbehaviour }: Row): Promise<Started> {
  let act = (good: unknown): unknown => good;
  const code: Code = (good) => act(good) as typeof good;
  const method = STORE.exec(place)?.[1];
  const setup = method === undefined ? PLACES[place]?.(code) : storing(method, code);
  if (!setup) throw new Error(`There is no place ${place}`);
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
    providers: setup.providers ?? [],
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
  const running = {
    events: app.get(SessionAuthEvents),
    sessions: app.get(SessionAuthService),
    token,
    ask,
  };
  setup.prepare?.(running);
  if (isSlow && place !== 'the function apiKey') while ((await ask()) !== '200');
  return {
    running,
    setup,
    lines,
    misbehave: () => {
      act = MISBEHAVIOURS[misbehaviour];
    },
    close: () => app.close(),
  };
}

async function run(row: Row): Promise<Outcome> {
  let started: Started;
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
  const closed = await close().catch((error: unknown) => ` not closed: ${String(error)}`);
  await release();
  return {
    ...row,
    answer: answer + (typeof closed === 'string' ? closed : ''),
    lines,
    strays: strays.splice(0),
  };
}

async function release(): Promise<void> {
  for (const reject of late.splice(0)) reject();
  await settled();
}

async function runAll(rows: readonly Row[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const row of rows) outcomes.push(await run(row));
  return outcomes;
}

process.once('message', (rows: Row[]) => {
  void runAll(rows).then((outcomes) => process.send?.(outcomes, () => process.exit(0)));
});
