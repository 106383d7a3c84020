import { Agent, request } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { json, startSessionService, type Script } from 'nestjs-session-auth/testing';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { IS_LONG_FORM } from '../support/long-form.js';
import type { CompiledProgram } from '../support/program.js';
import { PLATFORMS } from '../support/platforms.js';
import { RedisServer } from '../support/redis.js';
import { compileDrainProgram, startDrainingApp, type DrainingApp, type DrainSettings } from './draining-app.js';
import { plainRow } from '../support/trial/row.js';

const DRAIN_MS = 2_000;
const TIMEOUT_MS = 10_000;
/** What a busy machine needs, beside the time that calls in flight may take. */
const BUSY_MACHINE_MS = 60_000;
const CACHE = { ttlMs: 300_000, refreshAheadMs: 299_000 };
const KNOWN = 'known-token';

type Way = (token: string) => Promise<unknown>;

/** A call over HTTP on a connection of its own, or on one that stays. */
function httpWay({ url }: DrainingApp, agent?: Agent): Way {
  return (token) =>
    new Promise((resolve, reject) => {
      const call = request(`${url}/me`, { headers: { 'x-auth-token': token }, agent: agent ?? false }, (reply) => {
        reply.resume().on('end', () => resolve(reply.statusCode));
      });
      call.on('error', reject).end();
    });
}

async function waysTo(app: DrainingApp): Promise<readonly Way[]> {
  const tcp = ClientProxyFactory.create({ transport: Transport.TCP, options: { port: app.tcpPort, host: '127.0.0.1' } });
  await tcp.connect();
  const agent = new Agent({ keepAlive: true });
  const overTcp: Way = async (token) => ((await firstValueFrom(tcp.send<string>('me', { token }))) === 'in' ? 200 : 0);
  return [httpWay(app), httpWay(app, agent), overTcp];
}

/** Asks in every way, again and again, until the server takes no more connections; gives how often each answer came. */
async function useUntilClosed(app: DrainingApp, ways: readonly Way[]): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  const note = (answer: unknown): void => void (answers[String(answer)] = (answers[String(answer)] ?? 0) + 1);
  for (let round = 0; ; round += 1) {
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

type Setup = Pick<DrainSettings, 'drain' | 'hooks' | 'options'> & { readonly redis?: true };

describe.each(PLATFORMS.map(([name]) => [name] as const))('a shutdown on %s', (platform) => {
  let program: CompiledProgram;
  beforeAll(async () => {
    program = await compileDrainProgram();
  });
  afterAll(() => program.remove());

  const drains =
    ({ redis, options, ...setup }: Setup) =>
    async (): Promise<void> => {
      const [service, server] = [await startSessionService(), redis && (await RedisServer.start())];
      const held = holding('held-token');
      service.on('user_details', held.script);
      const settings = { ...setup, platform, baseUrl: service.url, drainMs: DRAIN_MS, options: { timeoutMs: TIMEOUT_MS, ...options } };
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
        expect(answers['200']).toBeGreaterThan(10);
        held.release();
        expect(await inFlight).toBe(200);
        await app.closed;
        const closedAt = performance.now();
        expect(await app.exit).toEqual(setup.hooks ? [null, 'SIGTERM'] : [0, null]);
        expect(performance.now() - closedAt).toBeLessThan(TIMEOUT_MS + BUSY_MACHINE_MS);
      } finally {
        app.kill();
        await service.close();
        await server?.close();
      }
    };

  /** In the short form each way to drain is tried on one platform. */
  const runsOn = (short: string): boolean => IS_LONG_FORM || platform === short;

  if (runsOn('Express'))
    plainRow(
      'requests and messages are served throughout a drain by a hook, calls in flight finish, and the process ends, with the cache off [N01]',
      drains({ drain: 'hook', hooks: false, options: {} }),
    );
  if (runsOn('Fastify'))
    plainRow(
      'requests and messages are served throughout a drain by terminus, calls in flight finish, and the process ends, with a cache and a store [N01]',
      drains({ drain: 'terminus', hooks: false, options: { cache: CACHE }, redis: true }),
    );
  if (runsOn('Express'))
    plainRow(
      'requests and messages are served throughout a drain by terminus on a signal, calls in flight finish, and the process ends [N01]',
      drains({ drain: 'terminus', hooks: true, options: {} }),
    );
});
