// Measures how soon what is open ends with its session, of each kind, on both platforms and both versions of
// NestJS, ended on the same instance and on another; then 10,000 open streams of 1,000 sessions. Needs
// redis-server, the library built (npm run build:lib) and NestJS 11 (npm ci --prefix test/nest-11). Writes
// RESULTS.md. SHORT=1 tries it with few, and writes nothing.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import ts from 'typescript';
import { startSessionService } from 'nestjs-session-auth/testing';
import { RedisProcess } from '../fleet-simulation/redis-process.mjs';
import { commitOf } from '../../tools/record-run.mjs';
import { freePort } from '../free-port.mjs';
import { KINDS, now, openHttp, PROTO } from './clients.mjs';

const commit = commitOf(import.meta.url);
const isShort = process.env.SHORT === '1';
const ENDS = isShort ? 5 : 200;
const WARM_UP = isShort ? 1 : 20;
const [SESSIONS, OF_EACH] = isShort ? [50, 10] : [1_000, 10];
const OPENED_AT_ONCE = 50;
const RECHECK_MS = isShort ? 2_000 : 10_000;
const NEVER_MS = 3_600_000;
const TARGETS = { here: 50, elsewhere: 250 };

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));

function compile() {
  const folder = join(fileOf('../..'), 'dist/open-streams-bench');
  mkdirSync(folder, { recursive: true });
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  const { outputText } = ts.transpileModule(readFileSync(fileOf('instance.ts'), 'utf8'), { compilerOptions });
  const file = join(folder, 'instance.mjs');
  writeFileSync(file, outputText);
  return file;
}

const program = compile();
const redis = await RedisProcess.start();
const service = await startSessionService();
const running = new Set();

/** An instance of the application, in a process of its own. */
async function start(major, platform, { recheckMs, ttlMs } = { recheckMs: NEVER_MS, ttlMs: 300_000 }) {
  const [socketPort, grpcPort] = [await freePort(), await freePort()];
  const plan = {
    baseUrl: service.url,
    redisPort: redis.port,
    platform,
    socketPort,
    grpcPort,
    protoPath: PROTO,
    recheckMs,
    ttlMs,
  };
  const execArgv = ['--expose-gc', ...(major === 11 ? ['--import', fileOf('nest-11.mjs')] : [])];
  const child = fork(program, [JSON.stringify(plan)], { execArgv });
  running.add(child);
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`An instance ended with ${code}`)),
  );
  ended.catch(() => undefined);
  const [{ url }] = await Promise.race([once(child, 'message'), ended]);
  let last = 0;
  const ask = (work, subject) =>
    new Promise((resolve) => {
      const id = (last += 1);
      const receive = ({ id: answered, result }) => {
        if (answered !== id) return;
        child.off('message', receive);
        resolve(result);
      };
      child.on('message', receive);
      child.send({ id, work, subject });
    });
  const stop = async () => {
    running.delete(child);
    const exit = once(child, 'exit');
    child.disconnect();
    await exit;
  };
  return { url, socketPort, grpcPort, ask, stop };
}

function quantiles(times) {
  const sorted = times.toSorted((one, other) => one - other);
  return [0.5, 0.99].map((part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]);
}

let tokens = 0;

/** Milliseconds from each call until the client had the last byte. */
async function measure(open, here, ender, way) {
  const times = [];
  for (let index = 0; index < WARM_UP + ENDS; index += 1) {
    tokens += 1;
    const [token, username] = [`token-${tokens}`, `user-${tokens}`];
    service.signInAs({ username }, token);
    const { over } = await open(here, token);
    const at = await ender.ask(way, way === 'signOut' ? token : username);
    const time = (await over) - at;
    if (index >= WARM_UP) times.push(time);
  }
  return quantiles(times);
}

async function ends(major, platform) {
  const [here, other] = [await start(major, platform), await start(major, platform)];
  const rows = [];
  for (const [kind, isIn11, open] of KINDS) {
    if (major === 11 && !isIn11) continue;
    const signOut = await measure(open, here, here, 'signOut');
    const forgetUser = await measure(open, here, other, 'forgetUser');
    rows.push({ kind, platform, major, signOut, forgetUser });
    console.log(major, platform, kind, ...[...signOut, ...forgetUser].map((ms) => ms.toFixed(1)));
  }
  await Promise.all([here.stop(), other.stop()]);
  return rows;
}

/** Opens streams of sessions, some at once: `OF_EACH` of each session. */
async function openMany(url) {
  const open = [];
  const all = Array.from({ length: SESSIONS * OF_EACH }, (_, index) => `many-${Math.floor(index / OF_EACH)}`);
  while (all.length > 0)
    open.push(
      ...(await Promise.all(
        all.splice(0, OPENED_AT_ONCE).map(async (token) => ({ token, ...(await openHttp(url, token, 1)) })),
      )),
    );
  return open;
}

/** Bytes and CPU of open streams, in an instance of their own; `end` gets them. */
async function many(path, platform, end = () => undefined) {
  for (let index = 0; index < SESSIONS; index += 1)
    service.signInAs({ username: `user of many-${index}` }, `many-${index}`);
  const instance = await start(12, platform, { recheckMs: RECHECK_MS, ttlMs: 1_000 });
  const warm = await Promise.all([1, 2, 3].map(() => openHttp(`${instance.url}/${path}`, 'many-0', 1)));
  for (const { leave } of warm) leave();
  await pause(500);
  const before = await instance.ask('usage');
  const open = await openMany(`${instance.url}/${path}`);
  const opened = await instance.ask('usage');
  const calls = service.callsTo('user_details');
  await pause(3 * RECHECK_MS);
  const later = await instance.ask('usage');
  const checks = service.callsTo('user_details') - calls;
  const ended = await end(instance, open);
  for (const { leave } of open) leave();
  await instance.stop();
  const seconds = (later.at - opened.at) / 1_000;
  return {
    bytesOfEach: (opened.bytes - before.bytes) / open.length,
    rssOfEach: (opened.rss - before.rss) / open.length,
    cpuPerSecond: (later.cpuMs - opened.cpuMs) / seconds,
    checksPerSecond: checks / seconds,
    ...ended,
  };
}

/** Milliseconds until all streams of one user have ended, and then all of all. */
async function endMany(instance, open) {
  const lastOf = async (wanted, at) => Math.max(...(await Promise.all(wanted.map(({ over }) => over)))) - at;
  const mine = open.filter(({ token }) => token === 'many-1');
  const ofUser = await lastOf(mine, await instance.ask('forgetUser', 'user of many-1'));
  const others = open.filter(({ token }) => token !== 'many-1');
  return { ofUser, ofAll: await lastOf(others, await instance.ask('forgetAll', '')) };
}

const table = (head, rows) =>
  [head, head.map((_name, column) => (column < 3 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

try {
  const began = now();
  const rows = [];
  for (const major of [12, 11])
    for (const platform of ['Express', 'Fastify']) rows.push(...(await ends(major, platform)));
  const crowds = [];
  for (const platform of ['Express', 'Fastify']) {
    const unguarded = await many('unguarded', platform);
    crowds.push({ platform, unguarded, guarded: await many('idle', platform, endMany) });
    console.log(JSON.stringify(crowds.at(-1)));
  }
  const missed = rows.filter(
    ({ signOut, forgetUser }) => signOut[1] > TARGETS.here || forgetUser[1] > TARGETS.elsewhere,
  );
  const ms = (value) => value.toFixed(1);
  const page = `# How soon what is open ends with its session, and what it costs

Written by \`npm run bench:open-streams\`; not edited by hand. ${new Date().toISOString().slice(0, 10)}, commit ${commit}; Node.js ${process.version}, ${cpus().length} processors, Redis ${await redis.version()}.

Two instances, each a process, with Redis and the session service on the same machine; ${ENDS} ends of each kind, one after the other. Milliseconds from the call
until the client had the last byte, while the source writes a part every 5 ms: \`signOut\` on the instance that holds the stream, and \`forgetUser\` on the other one.

${table(
  ['kind', 'platform', 'NestJS', 'here, p50', 'here, p99', 'elsewhere, p50', 'elsewhere, p99'],
  rows.map(({ kind, platform, major, signOut, forgetUser }) => [
    kind,
    platform,
    major,
    ...signOut.map(ms),
    ...forgetUser.map(ms),
  ]),
)}

Targets, p99: ${TARGETS.here} ms here, ${TARGETS.elsewhere} ms elsewhere: ${missed.length === 0 ? 'reached by all' : `**not reached** by ${missed.map(({ kind, platform, major }) => `${kind} on ${platform}, NestJS ${major}`).join('; ')}`}.

## ${SESSIONS * OF_EACH} open streams of ${SESSIONS} sessions

Streams of events without a part after the first, on NestJS 12, beside the same without a guard; each session is checked again every ${RECHECK_MS / 1_000} s.

${table(
  ['what', 'platform', 'unit', 'guarded', 'unguarded'],
  crowds.flatMap(({ platform, guarded, unguarded }) => [
    [
      'heap of each stream',
      platform,
      'bytes',
      guarded.bytesOfEach.toFixed(0),
      unguarded.bytesOfEach.toFixed(0),
    ],
    [
      'resident memory of each',
      platform,
      'bytes',
      guarded.rssOfEach.toFixed(0),
      unguarded.rssOfEach.toFixed(0),
    ],
    ['CPU while they are idle', platform, 'ms per s', ms(guarded.cpuPerSecond), ms(unguarded.cpuPerSecond)],
    ['rechecks', platform, 'per s', ms(guarded.checksPerSecond), ms(unguarded.checksPerSecond)],
    ['until all of one user have ended', platform, 'ms', ms(guarded.ofUser), ''],
    ['until all of all users have ended', platform, 'ms', ms(guarded.ofAll), ''],
  ]),
)}
`;
  console.log(page);
  console.log(`${((now() - began) / 1_000).toFixed(0)} s`);
  if (!isShort) {
    writeFileSync(fileOf('RESULTS.md'), await format(page, { parser: 'markdown', printWidth: 140 }));
    if (missed.length > 0) process.exitCode = 1;
  }
} finally {
  for (const child of running) if (child.connected) child.disconnect();
  await service.close();
  redis.stop();
}
