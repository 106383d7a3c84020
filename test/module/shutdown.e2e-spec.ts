import { describe, expect, it, afterAll, beforeAll } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { SessionAuthService } from 'nestjs-session-auth';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { startSessionService } from 'nestjs-session-auth/testing';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { json, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { inLongForm } from '../support/long-form.js';
import type { CompiledProgram } from '../support/program.js';
import { RedisServer } from '../support/redis.js';
import {
  compileDrainProgram,
  startDrainingApp,
  type DrainingApp,
  type DrainSettings,
} from './draining-app.js';

/** Why a call brought nothing. */
async function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => (error as { reason?: unknown }).reason,
  );
}

/** A call may take longer than its time after the application closes. */
const SHORT = { timeoutMs: 500, signInTimeoutMs: 300_000, signOutTimeoutMs: 300_000 };

describe.each(PLATFORMS)('an application that closes on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('ends the calls in flight after timeoutMs, and leaves no connection to the service open', async () => {
    let asked = 0;
    const arrivals = new EventEmitter();
    const service = await bed.serviceThat(() => {
      asked += 1;
      if (asked === 3) arrivals.emit('all');
    });
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: SHORT }));
    const sessions = app.app.get(SessionAuthService);
    const all = once(arrivals, 'all');
    const others = Promise.all([
      reasonOf(sessions.signIn({ username: 'ann', password: 'x' })),
      reasonOf(sessions.signOut('token')),
    ]);
    const check = reasonOf(sessions.verify('token'));
    // On a busy machine, the time of the check may end before it arrives.
    await Promise.race([all, check]);
    await app.close();

    expect(await others).toEqual(['shutting_down', 'shutting_down']);
    expect(['shutting_down', 'timeout']).toContain(await check);
    await service.idle();
  });
});

const DRAIN_MS = 2_000;
/** Between the requests during a drain: a busier load finds no more. */
const PAUSE_MS = 20;
const TIMEOUT_MS = 10_000;
/** The delay of a busy machine, in addition to the time of calls in flight. */
const BUSY_MACHINE_MS = 60_000;
const CACHE = { ttlMs: 300_000, refreshAheadMs: 299_000 };
const KNOWN = 'known-token';

type Way = (token: string) => Promise<unknown>;

/** A call over HTTP on a connection of its own, or on one that stays. */
function httpWay({ url }: DrainingApp, agent?: Agent): Way {
  return (token) =>
    new Promise((resolve, reject) => {
      const call = request(
        `${url}/me`,
        { headers: { 'x-auth-token': token }, agent: agent ?? false },
        (reply) => {
          reply.resume().on('end', () => resolve(reply.statusCode));
        },
      );
      call.on('error', reject).end();
    });
}

async function waysTo(app: DrainingApp): Promise<readonly Way[]> {
  const tcp = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { port: app.tcpPort, host: '127.0.0.1' },
  });
  await tcp.connect();
  const agent = new Agent({ keepAlive: true });
  const overTcp: Way = async (token) =>
    (await firstValueFrom(tcp.send<string>('me', { token }))) === 'in' ? 200 : 0;
  return [httpWay(app), httpWay(app, agent), overTcp];
}

/**
 * Sends requests of every kind until the server accepts no more connections. Returns the count of each
 * answer.
 */
async function useUntilClosed(app: DrainingApp, ways: readonly Way[]): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  const note = (answer: unknown): void => void (answers[String(answer)] = (answers[String(answer)] ?? 0) + 1);
  for (let round = 0; ; round += 1) {
    await setTimeout(PAUSE_MS);
    const open = await httpWay(app)(KNOWN).catch(() => undefined);
    if (open === undefined) return answers;
    note(open);
    const settled = await Promise.allSettled(ways.flatMap((way) => [way(KNOWN), way(`new-token-${round}`)]));
    for (const result of settled) if (result.status === 'fulfilled') note(result.value);
  }
}

async function socketTo({ url }: DrainingApp): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/live`, { headers: { 'x-auth-token': KNOWN } });
  await once(socket, 'open');
  return socket;
}

async function askOver(socket: WebSocket): Promise<string> {
  socket.send(JSON.stringify({ event: 'me', data: {} }));
  return String(((await once(socket, 'message')) as unknown[])[0]);
}

/** Holds the checks of one token, and answers all others. */
function holding(token: string) {
  let arrive = (): void => undefined;
  let release = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const script: Script = (...call) => {
    const answer = (): void => json({ username: 'ann' })(...call);
    if (call[0].headers['x-auth-token'] === token) {
      release = answer;
      arrive();
    } else answer();
  };
  return { script, arrived, release: () => release() };
}

type Setup = Pick<DrainSettings, 'drain' | 'options'> & { readonly redis?: true };

describe.each(PLATFORMS.map(([name]) => [name] as const))('a shutdown on %s', (platform) => {
  let program: CompiledProgram;
  beforeAll(async () => {
    program = await compileDrainProgram();
  });
  afterAll(() => program.remove());

  const drains =
    ({ redis, options, ...setup }: Setup) =>
    async () => {
      const [service, server] = [await startSessionService(), redis && (await RedisServer.start())];
      const held = holding('held-token');
      service.on('user_details', held.script);
      const settings = {
        ...setup,
        platform,
        baseUrl: service.url,
        drainMs: DRAIN_MS,
        options: { timeoutMs: TIMEOUT_MS, ...options },
      };
      const app = await startDrainingApp(program, { ...settings, redisPort: server?.port });
      try {
        const [ways, socket] = [await waysTo(app), await socketTo(app)];
        expect(await httpWay(app)(KNOWN)).toBe(200);
        const inFlight = httpWay(app)('held-token').catch((error: unknown) => error);
        await held.arrived;
        await app.terminate();
        expect(JSON.parse(await askOver(socket))).toEqual({ event: 'me', data: 'in' });

        const answers = await useUntilClosed(app, ways);
        expect(Object.keys(answers)).toEqual(['200']);
        held.release();
        expect(await inFlight).toBe(200);
        await app.closed;
        const closedAt = performance.now();
        expect(await app.exit).toEqual([0, null]);
        expect(performance.now() - closedAt).toBeLessThan(TIMEOUT_MS + BUSY_MACHINE_MS);
      } finally {
        app.kill();
        await service.close();
        await server?.close();
      }
    };

  /** In the short form each way to drain is tried on one platform. */
  const runsOn = (short: string): boolean =>
    platform === short || inLongForm(`the drain of ${short} on ${platform}`);

  if (runsOn('Express'))
    it(
      'requests and messages are served throughout a drain by a hook, calls in flight finish, and the process ends, with the cache off [N01]',
      drains({ drain: 'hook', options: {} }),
    );
  if (runsOn('Fastify'))
    it(
      'requests and messages are served throughout a drain by terminus, calls in flight finish, and the process ends, with a cache and a store [N01]',
      drains({ drain: 'terminus', options: { cache: CACHE }, redis: true }),
    );
});
