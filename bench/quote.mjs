// Writes the figures of the guides from the files that the benchmarks write: `npm run bench` and `npm run
// bench:fleet` end with it. With --check (`npm run docs:figures`), fails if a page quotes another figure, or
// one that no command writes.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from '../tools/markdown.mjs';
import { PAGES } from '../tools/code-blocks.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(root + path, 'utf8');
const checks = process.argv.includes('--check');

const RESULTS = read('bench/RESULTS.md');
const FLEET = read('bench/fleet-simulation/RESULTS.md');
const REDIS = JSON.parse(read('bench/fleet-simulation/redis.json'));
const targets = rowsOf(RESULTS, 'Targets').map((row) => ({
  ...row,
  question: row.question.replaceAll('`', ''),
}));

/** Between these comments, a page has the table of a name, and nothing else. */
const BLOCK = /<!-- figures: ([\w-]+) -->[^]*?<!-- end of figures -->/g;
/** A figure that was measured or modelled: limits and defaults are in ms, s, kB and bytes. */
const MEASURED = /\d ?(?:us|ns|MB|GB|%)(?!\w)/;

/** Tables whose figures have words. */
const TEXTS = new Set(['redis', 'costs']);

const TABLES = {
  costs: () => [
    ['what', 'figure'],
    ['the package, as a tarball', `${figureOf('size', 'tarball')} kB, ${packages()} dependencies`],
    [
      'start of an application: `create()` and `init()`',
      `${figureOf('start', 'NestFactory.create() and init() alone')} ms of CPU more`,
    ],
    ['import, after that of NestJS', `${figureOf('import', "import('nestjs-session-auth')")} ms of CPU`],
    ['a check of a cached session', `${figureOf('cached-check', 'nestjs-session-auth')} us`],
    ['100,000 cached sessions', `${figureOf('memory', 'nestjs-session-auth')} MB`],
  ],
  peers: () => [
    ['', 'this library', 'hand-written guard', '@nestjs/passport', 'nginx auth_request'],
    ['lines of code', ...linesOfCode()],
    [
      'requests for a second of CPU, with a call for each, of those without a guard',
      ...peers('guarded-uncached', ''),
    ],
    ['the same, every session cached', ...peers('guarded-cached', ' with a Map')],
    ['calls for 1,000 concurrent requests of one token, cache on', ...stampedes()],
  ],
  shares: () => [
    ['instances', 'random balancing, no store', 'sticky balancing', 'store'],
    ...rowsOf(FLEET, 'Requests that reach')
      .filter(({ instances }) => ['1', '2', '5', '10', '100', '1,000'].includes(instances))
      .map((row) => [row.instances, row['cache, random'], row['cache, sticky'], row.store]),
  ],
  redis: () => [
    ['what', 'figure'],
    ['a stored session', `${REDIS.session.bytes} bytes, for a sealed record of ${REDIS.session.valueBytes}`],
    ['a tombstone', `${REDIS.mark.bytes} bytes`],
    ['a look-up, one that finds nothing', microseconds('read', 'miss')],
    ['the revocations of a session, one of them', microseconds('revocations', 'revocation')],
    ['a write of a session, of a tombstone', microseconds('write', 'end')],
    ['a delivery of a message', `${REDIS.delivery.processorMicroseconds} us, ${REDIS.delivery.bytes} bytes`],
  ],
};

const wrong = [];
const used = new Set();
for (const page of PAGES) {
  const before = read(page);
  const after = await quoted(page, before);
  if (after !== before && checks)
    wrong.push(`${page} quotes other figures than the benchmarks have written: run "node bench/quote.mjs"`);
  if (after !== before && !checks) writeFileSync(root + page, after);
  if (page === 'CHANGELOG.md') continue;
  const own = after.replace(BLOCK, '').replace(/^```[^]*?^```|!\[.*?\]/gm, '');
  wrong.push(
    ...own
      .split('\n')
      .flatMap((line) =>
        MEASURED.test(line) ? [`${page} has a figure that no command writes: ${line}`] : [],
      ),
  );
}
wrong.push(
  ...Object.keys(TABLES).flatMap((name) => (used.has(name) ? [] : [`no page has the figures '${name}'`])),
);
const unexplained = targets.filter(
  (row) => row[''] === 'NOT reached' && !read('bench/LIMITS.md').includes(`- **\`${row.question}\``),
);
wrong.push(...unexplained.map(({ question }) => `bench/LIMITS.md does not explain ${question}`));
const bytes = Math.round((Number(figureOf('memory', 'nestjs-session-auth')) * 1e6) / 100_000);
if (!FLEET.includes(`takes ${bytes} bytes in an instance`))
  wrong.push('bench/fleet-simulation has another memory than bench/RESULTS.md: run "npm run bench:fleet"');

if (wrong.length > 0) throw new Error(wrong.join('\n'));
console.log(`${used.size} tables of the guides quote the figures of the benchmarks`);

/** Returns the text of a page with the tables as they are to be. */
async function quoted(page, text) {
  const written = text.replace(BLOCK, (_, name) => {
    used.add(name);
    const [heads, ...rows] = TABLES[name]();
    const line = (cells) => `| ${cells.join(' | ')} |`;
    const lines = [
      line(heads),
      line(heads.map((_, column) => (column > 0 && !TEXTS.has(name) ? '---:' : '---'))),
      ...rows.map(line),
    ];
    return [`<!-- figures: ${name} -->`, lines.join('\n'), '<!-- end of figures -->'].join('\n\n');
  });
  if (written === text) return text;
  return formatMarkdown(written);
}

/** Returns the rows of the first table under a heading that begins so, each by the heads of its columns. */
function rowsOf(text, heading) {
  const section = text.split(/^## /m).find((part) => part.startsWith(heading));
  if (section === undefined) throw new Error(`no section begins with '${heading}'`);
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  const [heads, , ...rows] = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return rows.map((cells) => Object.fromEntries(heads.map((head, column) => [head, cells[column]])));
}

function microseconds(...names) {
  return `${names.map((name) => REDIS.operations[name].processorMicroseconds).join(', ')} us`;
}

/** Returns the median of a figure of a question. */
function figureOf(question, measured) {
  return medianIn(rowsOf(RESULTS, `${question}:`).find((row) => row.measured === measured && !row.against));
}

function packages() {
  return figureOf('size', 'runtime dependencies: lru-cache, undici');
}

/**
 * Lines without imports, blank lines and comments: of the registration in the README and its guard; of the
 * variants that the benchmark runs; of the configuration of nginx.
 */
function linesOfCode() {
  const [registration] = /SessionAuthModule\.forRoot\([^]*?\}\)/.exec(read('README.md'));
  const code = (...files) => {
    const text = files
      .map((name) => read(`bench/variants/${name}.ts`).replace(/^import [^]*?;$/gm, ''))
      .join('\n');
    return text.split('\n').filter((line) => /^(?! *(?:\/?\*|\/\/|$))/.test(line)).length;
  };
  const [, nginx] = /^ {4}location = \/openings ([^]*?)^ {2}\}$/m.exec(read('bench/variants/nginx.ts'));
  const shared = ['presented', 'users-of-service', 'user-cache'];
  return [
    registration.split('\n').length + 1,
    code('hand-written', ...shared),
    code('passport', ...shared),
    nginx.trim().split('\n').length,
  ];
}

/** The ratios to the unguarded route on Fastify. */
function peers(question, cache) {
  const rows = rowsOf(RESULTS, `${question}:`).filter(({ against }) => against === 'unguarded');
  const names = ['nestjs-session-auth', `hand-written guard${cache}`];
  const passport = cache ? '@nestjs/passport with a Map' : '@nestjs/passport + passport-custom';
  return [...names, passport, 'nginx auth_request with proxy_cache'].map((name) => {
    const row = rows.find(({ measured }) => measured === `Fastify: ${name}`);
    return row ? medianIn(row) : 'not measured';
  });
}

function stampedes() {
  const rows = rowsOf(RESULTS, 'stampede:');
  return [
    'nestjs-session-auth, cache on',
    'hand-written guard with a Map',
    '@nestjs/passport with a Map',
    'nginx auth_request with proxy_cache',
  ].map((name) => medianIn(rows.find(({ measured }) => measured === name)));
}

function medianIn(row) {
  if (row?.median === undefined) throw new Error(`no median in ${JSON.stringify(row)} of bench/RESULTS.md`);
  return row.median;
}
