// Measures how soon the instances of an application learn of a sign-out, and of an end of all sessions of a
// user, on one of them: each in a process of its own, with a Redis and a session service on this machine.
// Then the cost of a check. Needs redis-server, and the library built (npm run build:lib). Writes RESULTS.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from '../../tools/markdown.mjs';
import { startSessionService } from 'nestjs-session-auth/testing';
import { RedisProcess } from '../fleet-simulation/redis-process.mjs';

const INSTANCES = 8;
const ENDS = 200;
const WARM_UP = 20;
const TARGET_MS = 250;

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const redis = await RedisProcess.start();
const service = await startSessionService();
const instances = Array.from({ length: INSTANCES }, () =>
  fork(fileOf('instance.mjs'), [service.url, redis.port]),
);

/** Resolves with the messages of this kind about this subject, one of each process. */
function messages(processes, kind, subject) {
  return Promise.all(
    processes.map(
      (one) =>
        new Promise((resolve) => {
          const receive = (message) => {
            if (message[kind] !== subject) return;
            one.off('message', receive);
            resolve(message);
          };
          one.on('message', receive);
        }),
    ),
  );
}

async function allSubscribed() {
  while (!(await redis.cli('PUBSUB', 'NUMSUB', 'session-auth:messages')).endsWith(`\n${INSTANCES}`))
    await setTimeout(50);
}

/** Checks a session on all instances, and expects this result of each. */
async function checkOn(processes, token, expected) {
  const checked = messages(processes, 'verified', token);
  for (const one of processes) one.send({ verify: token });
  for (const { outcome } of await checked)
    if (outcome !== expected) throw new Error(`${outcome} instead of ${expected}`);
}

/** Two ways to end a session that is cached. */
const WAYS = {
  /** Signed out on an instance that caches it. */
  signOut: (token, here) => ({
    subject: token,
    cachedOn: instances,
    end: () => here.send({ kind: 'signOut', subject: token }),
  }),
  /** Ended at the service, and then `forgetUser` on an instance that does not cache the session. */
  forgetUser: (token, here) => ({
    subject: `user of ${token}`,
    cachedOn: instances.filter((one) => one !== here),
    end: () => {
      service.revoke(token);
      here.send({ kind: 'forgetUser', subject: `user of ${token}` });
    },
  }),
};

/** Milliseconds until each other instance had evicted one session, which the service then refuses. */
async function measure(way, index) {
  const token = `${way}-${index}`;
  service.signInAs({ username: `user of ${token}` }, token);
  const here = instances[index % INSTANCES];
  const others = instances.filter((one) => one !== here);
  const { subject, cachedOn, end } = WAYS[way](token, here);
  await checkOn(cachedOn, token, 'accepted');
  const [evicted, settled] = [messages(others, 'ended', subject), messages([here], 'settled', subject)];
  end();
  const [{ called, at: settledAt }] = await settled;
  const times = (await evicted).map(({ at }) => ({ sinceCall: at - called, sinceSettled: at - settledAt }));
  service.revoke(token);
  await checkOn(others, token, 'SESSION_REJECTED');
  return times;
}

async function measureAll(way) {
  const measured = [];
  for (let index = 0; index < WARM_UP + ENDS; index += 1) {
    const times = await measure(way, index);
    if (index >= WARM_UP) measured.push(...times);
  }
  return measured;
}

/** A row of the table: since when, and the quantiles. */
function row(way, since, values) {
  const sorted = values.toSorted((one, other) => one - other);
  const quantile = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1);
  return [way, since, String(values.length), quantile(0.5), quantile(0.99), quantile(1)];
}

async function propagation() {
  await messages(instances, 'ready', true);
  await allSubscribed();
  const rows = [];
  for (const way of Object.keys(WAYS)) {
    const times = await measureAll(way);
    rows.push(
      row(
        way,
        'called',
        times.map(({ sinceCall }) => sinceCall),
      ),
      row(
        way,
        'settled',
        times.map(({ sinceSettled }) => sinceSettled),
      ),
    );
  }
  return rows;
}

async function stop() {
  const ended = instances.map((one) => once(one, 'exit'));
  for (const one of instances) one.disconnect();
  await Promise.all(ended);
}

async function cost() {
  const child = fork(fileOf('cost.mjs'), [redis.port], { execArgv: ['--expose-gc'] });
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`The measurement of the cost ended with ${code}`)),
  );
  const [rows] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => undefined);
  return rows;
}

const table = (head, rows) =>
  [head, head.map((_name, column) => (column < 2 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

try {
  const ends = await propagation();
  const p99 = Number(ends.find(([way, since]) => way === 'forgetUser' && since === 'settled')[4]);
  await stop();
  const page = `# How fast revocations reach all instances, and the cost of a check

Written by \`npm run bench:propagation\`; not edited by hand. Node.js ${process.version}, ${cpus().length} processors, Redis ${await redis.version()}.

${INSTANCES} instances, each a process, with Redis and the session service on the same machine; ${ENDS} ends of each kind, one after the other. Milliseconds
from the call, and from its settling, until another instance had evicted the session; below 0: before the call settled. Each instance then refuses it. \`signOut\` is
called on an instance that caches the session, \`forgetUser\` on one that does not, after the session ended at the service.

${table(['end', 'since', 'times', 'p50, ms', 'p99, ms', 'most, ms'], ends)}

Target: \`forgetUser\` within ${TARGET_MS} ms p99 of settling: ${p99 <= TARGET_MS ? 'reached' : '**not reached**'}.

## Cost

${table(['what', 'how', 'figure'], await cost())}
`;
  writeFileSync(fileOf('RESULTS.md'), await formatMarkdown(page));
  console.log(page);
  if (p99 > TARGET_MS) process.exitCode = 1;
} finally {
  for (const one of instances) if (one.connected) one.disconnect();
  await service.close();
  redis.stop();
}
