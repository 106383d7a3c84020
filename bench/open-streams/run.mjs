// Measures how soon what is open ends with its session, of each kind, on both platforms and both versions of
// NestJS, ended on the same instance and on another; then 10,000 open streams of 1,000 sessions. Needs
// redis-server, the library built (npm run build:lib) and NestJS 11 (npm ci --prefix test/nest-11). Writes
// RESULTS.md. `npm run bench:open-streams -- Mercurius crowds` measures these alone, and keeps the other rows.
// SHORT=1 tries it with few, and writes nothing.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { startSessionService } from 'nestjs-session-auth/testing';
import { RedisProcess } from '../fleet-simulation/redis-process.mjs';
import { commitOf, today } from '../../tools/record-run.mjs';
import { freePort } from '../free-port.mjs';
import { KINDS, now, openHttp, PROTO } from './clients.mjs';
import { record } from './results.mjs';

const commit = commitOf(import.meta.url);
const isShort = process.env.SHORT === '1';
const ENDS = isShort ? 5 : 200;
const WARM_UP = isShort ? 1 : 20;
const [SESSIONS, OF_EACH] = isShort ? [50, 10] : [1_000, 10];
const OPENED_AT_ONCE = 50;
const RECHECK_MS = isShort ? 2_000 : 10_000;
const NEVER_MS = 3_600_000;
const CROWDS = 'crowds';
const chosen = process.argv.slice(2);
const isChosen = (name) => chosen.length === 0 || chosen.includes(name.replaceAll('`', ''));
for (const name of chosen)
  if (![CROWDS, ...KINDS.map(({ kind }) => kind.replaceAll('`', ''))].includes(name))
    throw new Error(`${name} is no kind`);

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
async function start(major, platform, { driver = 'Apollo', recheckMs = NEVER_MS, ttlMs = 300_000 } = {}) {
  const [socketPort, grpcPort] = [await freePort(), await freePort()];
  const plan = {
    baseUrl: service.url,
    redisPort: redis.port,
    platform,
    driver,
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

/** Ends of some kinds, in two instances. */
async function ends(major, platform, driver, kinds) {
  const [here, other] = [await start(major, platform, { driver }), await start(major, platform, { driver })];
  const rows = [];
  for (const { kind, open } of kinds) {
    const signOut = await measure(open, here, here, 'signOut');
    const forgetUser = await measure(open, here, other, 'forgetUser');
    const times = [...signOut, ...forgetUser].map((ms) => ms.toFixed(1));
    rows.push([kind, platform, major, ...times, commit, today()].map(String));
    console.log(rows.at(-1).join(' '));
  }
  await Promise.all([here.stop(), other.stop()]);
  return rows;
}

async function allEnds() {
  const rows = [];
  for (const major of [12, 11])
    for (const platform of ['Express', 'Fastify'])
      for (const driver of ['Apollo', 'Mercurius']) {
        const kinds = KINDS.filter(
          (each) =>
            isChosen(each.kind) &&
            each.driver === driver &&
            each.majors.includes(major) &&
            each.platforms.includes(platform),
        );
        if (kinds.length > 0) rows.push(...(await ends(major, platform, driver, kinds)));
      }
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

async function allCrowds() {
  const crowds = [];
  for (const platform of ['Express', 'Fastify']) {
    const unguarded = await many('unguarded', platform);
    crowds.push({ platform, unguarded, guarded: await many('idle', platform, endMany) });
    console.log(JSON.stringify(crowds.at(-1)));
  }
  return crowds;
}

try {
  const began = now();
  const rows = await allEnds();
  const crowds = isChosen(CROWDS) ? await allCrowds() : [];
  console.log(`${((now() - began) / 1_000).toFixed(0)} s`);
  if (!isShort) {
    const settings = { ends: ENDS, sessions: SESSIONS, ofEach: OF_EACH, recheckMs: RECHECK_MS };
    const isReached = await record({ rows, crowds, commit, redis: await redis.version(), ...settings });
    if (!isReached) process.exitCode = 1;
  }
} finally {
  for (const child of running) if (child.connected) child.disconnect();
  await service.close();
  redis.stop();
}
