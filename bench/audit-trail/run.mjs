// Measures the audit trail of docs/audit-trail.md, as the guide prints it, with a PostgreSQL server: the rate
// that it sustains, how late its lines are, what it costs the guard, and what is lost while the database is
// down. Needs PostgreSQL, and the library built (npm run build:lib). Writes RESULTS.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { formatMarkdown } from '../../tools/markdown.mjs';
import ts from 'typescript';
import { startSessionService } from 'nestjs-session-auth/testing';
import { PostgresProcess } from './postgres-process.mjs';

const RATE = 10_000;
const SUSTAINED_MS = 20_000;
const ROUNDS = 15;
const BURST = 20_000;
const PACED_MS = 1_500;
const HTTP_ROUNDS = 10;
const HTTP_MS = 700;
const DOWN_MS = 8_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/audit-trail.md'), 'utf8');
const blocks = (language) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code);

/** Compiles the files of the guide as an application would. */
function compileGuide() {
  const folder = join(root, 'dist/audit-trail-bench');
  rmSync(folder, { recursive: true, force: true });
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  for (const code of blocks('ts')) {
    const file = join(folder, /^\/\/ (\S+)\.ts\n/.exec(code)[1]);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.js`, ts.transpileModule(code, { compilerOptions }).outputText);
  }
  return folder;
}

const postgres = await PostgresProcess.start();
const service = await startSessionService();
const sql = async (text) => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
};
const [createTable] = blocks('sql');
/** Numbers that have no line, of all runs. */
const FIND_GAPS = `select coalesce(sum(last - lines), 0) as lost
  from (select max(number) as last, count(*) as lines from decisions group by run) as runs`;
await sql(createTable);
for (let index = 0; index < 200; index += 1)
  service.signInAs({ username: `user ${index}` }, `session-${index}`);

const env = { ...process.env, DATABASE_URL: postgres.url };
const app = fork(fileURLToPath(new URL('application.mjs', import.meta.url)), [service.url, compileGuide()], {
  env,
});
const load = fork(fileURLToPath(new URL('load.mjs', import.meta.url)));
await once(app, 'message');
let calls = 0;
const ask = (name, argument) =>
  new Promise((resolve, reject) => {
    const id = (calls += 1);
    const receive = (answer) => {
      if (answer.id !== id) return;
      app.off('message', receive);
      if (answer.error) reject(new Error(answer.error));
      else resolve(answer.result);
    };
    app.on('message', receive);
    app.send({ id, name, argument });
  });

const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
const spread = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  return [sorted[Math.floor(sorted.length / 4)], median(sorted), sorted[Math.floor((sorted.length * 3) / 4)]];
};
const shown = (values, digits = 2) => {
  const [low, middle, high] = spread(values).map((value) => value.toFixed(digits));
  return `${middle} (${low} to ${high})`;
};
const inTurn = (items, round) => [
  ...items.slice(round % items.length),
  ...items.slice(0, round % items.length),
];

/** Processor time of one call of the guard, by the observer of its decisions. */
async function measureCpu() {
  const variants = ['none', 'ignored', 'trail'];
  const costs = Object.fromEntries(variants.map((name) => [name, []]));
  for (const name of variants) await ask('burst', { name, calls: BURST });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of inTurn(variants, round)) costs[name].push(await ask('burst', { name, calls: BURST }));
  }
  return costs;
}

/** Time of one call of the guard, and lateness of the event loop, at the rate. */
async function measurePaced() {
  const rounds = { none: [], trail: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of inTurn(['none', 'trail'], round)) {
      rounds[name].push(await ask('paced', { name, perSecond: RATE, durationMs: PACED_MS }));
      await ask('whenWritten');
    }
  }
  return rounds;
}

/** Requests for a second of the application's processor time, over HTTP. */
async function measureHttp() {
  const [urls, tokens] = [await ask('urls'), await ask('tokens')];
  const result = { none: [], trail: [] };
  for (let round = 0; round <= HTTP_ROUNDS; round += 1) {
    for (const name of inTurn(['none', 'trail'], round)) {
      const before = await ask('cpuUs');
      load.send({ url: urls[name], tokens, durationMs: HTTP_MS });
      const [{ requests }] = await once(load, 'message');
      await ask('whenWritten');
      if (round > 0) result[name].push(requests / (((await ask('cpuUs')) - before) / 1_000_000));
    }
  }
  return result;
}

async function measureSustained() {
  const before = await ask('counts');
  const [{ count: linesBefore }] = await sql('select count(*) from decisions');
  const { calls, elapsedMs, waiting } = await ask('paced', {
    name: 'trail',
    perSecond: RATE,
    durationMs: SUSTAINED_MS,
  });
  const lags = await ask('lags');
  const [{ count }] = await sql('select count(*) from decisions');
  const after = await ask('counts');
  return { calls, elapsedMs, waiting, lags, lines: count - linesBefore, lost: after.lost - before.lost };
}

async function measureOutage() {
  const before = await ask('counts');
  const [{ count: linesBefore }] = await sql('select count(*) from decisions');
  const running = ask('paced', { name: 'trail', perSecond: RATE, durationMs: DOWN_MS + 4_000 });
  await setTimeout(2_000);
  await postgres.halt();
  await setTimeout(DOWN_MS);
  await postgres.run();
  const { calls } = await running;
  const began = performance.now();
  await ask('whenWritten');
  const drainedMs = performance.now() - began;
  const { lost } = await ask('counts');
  const [{ count }] = await sql('select count(*) from decisions');
  const [{ lost: gaps }] = await sql(FIND_GAPS);
  return { calls, lines: count - linesBefore, lost: lost - before.lost, gaps: Number(gaps), drainedMs };
}

const costs = await measureCpu();
const paced = await measurePaced();
const http = await measureHttp();
const sustained = await measureSustained();
const outage = await measureOutage();
if (sustained.lines !== sustained.calls || sustained.lost !== 0)
  throw new Error(`lines are missing: ${JSON.stringify(sustained)}`);
if (outage.lines + outage.lost !== outage.calls || outage.gaps !== outage.lost)
  throw new Error(`lines are missing: ${JSON.stringify(outage)}`);

const ratios = (values, base) => values.map((value, index) => value / base[index]);
const of = (name, read) => paced[name].map(read);
const text = `# The audit trail of the guide, measured

The code of [docs/audit-trail.md](../../docs/audit-trail.md) as printed, and ${postgres.version()}, which waits for the disk at each commit, on the same machine. \`npm run bench:audit-trail\` repeats it.
${cpus().length} processors (${cpus()[0].model.trim()}), Node.js ${process.version}. Medians of interleaved rounds, with their quartiles: other programs used the machine too.

| question | result |
| --- | --- |
| decisions per second, offered for ${SUSTAINED_MS / 1_000} s | ${Math.round(sustained.calls / (sustained.elapsedMs / 1_000))} |
| of these, recorded | ${sustained.lines} of ${sustained.calls} |
| decisions that waited at the end | ${sustained.waiting} of at most 50 000 |
| from a decision to its commit: median, 99th percentile, maximum of the first line of each batch | ${Object.values(sustained.lags).map(Math.round).join(', ')} ms |
| processor time of one call of the guard, cached session: no subscriber | ${shown(costs.none)} us |
| the same, with a subscriber that does nothing | ${shown(costs.ignored)} us |
| the same, with the audit trail, inserts included | ${shown(costs.trail)} us |
| requests for a second of processor time over HTTP (Express), with the audit trail against none | ratio ${shown(ratios(http.trail, http.none))} |
| time of one call of the guard at ${RATE} per second, median: no subscriber | ${shown(of('none', ({ took }) => took.median * 1_000))} us |
| the same, with the audit trail | ${shown(of('trail', ({ took }) => took.median * 1_000))} us |
| lateness of the event loop at ${RATE} per second, 99th percentile: no subscriber | ${shown(
  of('none', ({ late }) => late.p99),
  1,
)} ms |
| the same, with the audit trail | ${shown(
  of('trail', ({ late }) => late.p99),
  1,
)} ms |
| database down for ${DOWN_MS / 1_000} s at this rate: recorded, lost, together | ${outage.lines}, ${outage.lost}, all ${outage.calls} |
| missing numbers in the table | ${outage.gaps}: exactly the lost decisions |
| until the lines that waited were recorded, after the load had ended | ${Math.round(outage.drainedMs)} ms |
`;
writeFileSync(new URL('RESULTS.md', import.meta.url), await formatMarkdown(text));
console.log(text);
for (const child of [app, load]) child.disconnect();
await postgres.stop();
await service.close();
