// Measures what a store does in a herd: 1 000 sessions that no instance has cached, checked by each of 8
// processes at once; with a session service that answers in 40 ms, and with one that has places for only 64
// calls, which is less than 8 000 calls within `timeoutMs` need. Without a store, and with one of `timeoutMs`
// 50 and 1 000. In processes that have checked 2 000 sessions before, and in processes that have just
// started. Needs redis-server, and the library built (npm run build:lib). Writes RESULTS.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from '../../tools/markdown.mjs';
import { RedisProcess } from '../fleet-simulation/redis-process.mjs';

const PROCESSES = 8;
const SESSIONS = Number(process.env.SESSIONS ?? 1_000);
const RUNS = Number(process.env.RUNS ?? 5);
const SERVICES = { 'answers in 40 ms': 100_000, 'at its capacity: 64 calls at a time, 40 ms each': 64 };
const STORES = ['none', '50', '1000'];
/** Sessions that a process has checked before. */
const BEFORE = [2_000, 0];

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const redis = await RedisProcess.start();

async function start(name, ...args) {
  const child = fork(fileOf(name), args.map(String));
  const [message] = await once(child, 'message');
  return { child, message };
}

async function ask(child, message) {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = await answered;
  return answer;
}

async function stop(children) {
  await Promise.all(
    children.map((child) => {
      const ended = once(child, 'exit');
      child.disconnect();
      return ended;
    }),
  );
}

async function run({ places, store, before, number }) {
  await redis.cli('FLUSHALL');
  const service = await start('service.mjs', places);
  const started = await Promise.all(
    Array.from({ length: PROCESSES }, () =>
      start('instance.mjs', service.message.url, redis.port, store, before),
    ),
  );
  const instances = started.map(({ child }) => child);
  await ask(service.child, 'calls');
  const tokens = Array.from({ length: SESSIONS }, (_, index) => `token-${number}-${index}`);
  const checks = (await Promise.all(instances.map((child) => ask(child, tokens)))).flatMap(
    (answer) => answer.checks,
  );
  const { calls } = await ask(service.child, 'calls');
  await stop([...instances, service.child]);
  const times = checks.map(({ tookMs }) => tookMs).sort((one, other) => one - other);
  const failures = checks.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'accepted');
  const reasons = [...new Set(failures)].map((reason) => [reason, failures.filter((one) => one === reason)]);
  return {
    calls,
    failed: failures.length,
    reasons: reasons.map(([reason, { length }]) => `${reason} ${length}`).join(', '),
    p99: Math.round(times[Math.ceil(times.length * 0.99) - 1]),
  };
}

try {
  const rows = [];
  const cases = BEFORE.flatMap((before) =>
    Object.entries(SERVICES).flatMap(([service, places]) =>
      STORES.map((store) => ({ before, service, places, store })),
    ),
  );
  for (const one of cases) {
    const runs = [];
    for (let number = 0; number < RUNS; number += 1) runs.push(await run({ ...one, number }));
    const each = (name) => runs.map((result) => result[name]).join(', ');
    const reasons = runs.map((result) => result.reasons).filter(Boolean);
    const cells = [
      one.before,
      one.service,
      one.store,
      each('calls'),
      each('failed'),
      reasons.join('; ') || 'none',
      each('p99'),
    ];
    rows.push(`| ${cells.join(' | ')} |`);
    console.log(rows.at(-1));
  }
  const page = `# A herd: many sessions that no instance has cached

Written by \`npm run bench:herd\`; not edited by hand. Node.js ${process.version}, ${cpus().length} processors, Redis ${await redis.version()}.

${SESSIONS} sessions, each checked by ${PROCESSES} processes at once: ${SESSIONS * PROCESSES} checks; \`timeoutMs\` 3 000, everything on this machine. Each of ${RUNS} runs
has new processes, which have checked no session or 2,000 others before, and an empty store: one figure for each run.

| sessions checked before | session service | \`timeoutMs\` of the store | calls | failed checks | their reasons | p99, ms |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
  writeFileSync(fileOf('RESULTS.md'), await formatMarkdown(page));
} finally {
  redis.stop();
}
