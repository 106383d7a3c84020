// Measures what the library weighs, prints it beside its limits and budgets, warns if a measure exceeds its
// limit by less than 2 %, and fails above. --tighten lowers the limits to what was measured. --functions lists the functions that a check
// runs instead. The library must have been built; it is measured as an application gets it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFolderCycles } from './check-folders.mjs';
import { exceeds } from './limits.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const library = 'libs/session-auth/src';
const dist = new URL('../libs/session-auth/dist/', import.meta.url);
/** The code and the source map of each bundle, by its URL. */
const bundles = new Map();
/**
 * { limit, budget } of each measure: CI enforces the limit, which only shrinks, until it is the budget. Times
 * have no limit.
 */
const budgetsFile = join(root, 'tools/budgets.json');

const CORE = /^(contract|exceptions|client|verifier|guard|module)\//;

const [, , role] = process.argv;
if (role === 'application')
  process.stdout.write(JSON.stringify(await measureApplication()), () => process.exit());
else if (role === 'start')
  process.stdout.write(JSON.stringify(await measureStart(process.argv[3])), () => process.exit());
else if (process.argv.includes('--functions')) listFunctions();
else report(measure());

function measure() {
  const commands = filesOf('libs/session-auth-cli/src');
  const sources = filesOf(library);
  const core = sources.map((file) => file.slice(library.length + 1)).filter((file) => CORE.test(file));
  const tests = [...testsOf('libs'), ...filesOf('test', /\.(m?ts|mjs|txt)$/, () => true)];
  const { loaded, providers, cached, uncached } = runMyself('application');
  const { files, size } = measureTarball();
  return {
    'kB of source, without commands': kiloBytes(sources),
    'kB of source of the core': kiloBytes(core.map((file) => `${library}/${file}`)),
    'kB of source of the commands': kiloBytes(commands),
    'kB that one guarded route loads': Math.round(loaded.bytes / 1000),
    'files that one guarded route loads': loaded.files,
    'providers for one guarded route': providers,
    'functions of a cached check': cached.functions.length,
    'files of a cached check': cached.files,
    'functions of an uncached check': uncached.functions.length,
    'files of an uncached check': uncached.files,
    'groups of folders that import each other': readFolderCycles().size,
    ...timesOfStart(),
    'kB of the tarball': Math.round(size / 1000),
    'files of the tarball': files,
    'kB of tests': kiloBytes(tests),
    'terms of the glossary': termsOfTheGlossary(),
  };
}

/** Prints the functions of each check by their source files. */
function listFunctions() {
  const { cached, uncached } = runMyself('application');
  for (const [check, { functions }] of Object.entries({ cached, uncached }))
    console.log(
      `${[`${functions.length} functions of ${check} checks:`, ...functions.sort()].join('\n  ')}\n`,
    );
}

function report(measured) {
  const budgets = JSON.parse(readFileSync(budgetsFile, 'utf8'));
  const exceeded = { slightly: [], far: [] };
  console.log('| measure | now | limit | budget |\n| --- | ---: | ---: | ---: |');
  for (const [name, now] of Object.entries(measured)) {
    const { limit, budget } = budgets[name];
    console.log(`| ${name} | ${now} | ${limit ?? 'none'} | ${budget} |`);
    const excess = limit === undefined ? 'within' : exceeds(now - limit, limit);
    if (excess !== 'within') exceeded[excess].push(name);
    else if (limit !== undefined) budgets[name].limit = Math.max(now, Math.min(limit, budget));
  }
  if (process.argv.includes('--tighten')) writeFileSync(budgetsFile, textOf(budgets));
  const { slightly, far } = exceeded;
  if (slightly.length > 0)
    console.error(`\nWarning: less than 2 % above the limit of tools/budgets.json: ${slightly.join('; ')}`);
  if (far.length > 0) console.error(`\nAbove the limit of tools/budgets.json: ${far.join('; ')}`);
  process.exitCode = far.length > 0 ? 1 : 0;
}

function filesOf(folder, pattern = /\.ts$/, chosen = (file) => !file.endsWith('.spec.ts')) {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return tracked
    .split('\n')
    .filter(
      (file) => pattern.test(file) && chosen(file) && statSync(join(root, file), { throwIfNoEntry: false }),
    );
}

function testsOf(folder) {
  return filesOf(folder, /\.spec\.ts$/, () => true);
}

function kiloBytes(files) {
  return Math.round(files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0) / 1000);
}

function termsOfTheGlossary() {
  const [, glossary] = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split(/^## Glossary$/m);
  return (
    glossary
      .split(/^## /m)[0]
      .split('\n')
      .filter((line) => line.startsWith('|')).length - 2
  );
}

/** One measure in a line. */
function textOf(budgets) {
  const lines = Object.entries(budgets).map(
    ([name, numbers]) => `  "${name}": ${JSON.stringify(numbers, null, 1).replace(/\s+/g, ' ')}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}

function measureTarball() {
  const target = mkdtempSync(join(tmpdir(), 'budgets-'));
  try {
    execFileSync(process.execPath, [join(root, 'libs/session-auth/pack.mjs'), target], { stdio: 'ignore' });
    const [tarball] = readdirSync(target).map((name) => join(target, name));
    const names = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
    return { files: names.length, size: statSync(tarball).size };
  } finally {
    rmSync(target, { recursive: true });
  }
}

function runMyself(...args) {
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } };
  return JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), ...args], options),
  );
}

/** The least of several starts: other work of the machine only ever adds time. */
function timesOfStart() {
  const least = (...args) => {
    const starts = [1, 2, 3].map(() => runMyself('start', ...args));
    return (time) => Math.min(...starts.map((start) => start[time]));
  };
  const [bare, guarded] = [least('bare'), least('guarded')];
  return {
    'ms of CPU to import it after @nestjs/core': Math.round(guarded('imported')),
    'ms of CPU of create and init, above a bare application': Math.round(
      guarded('started') - bare('started'),
    ),
  };
}

async function measureStart(kind) {
  await import('reflect-metadata');
  const { NestFactory } = await import('@nestjs/core');
  await import('@nestjs/common');
  await import('@nestjs/platform-express');
  const imported = await cpuOf(() => (kind === 'guarded' ? import('nestjs-session-auth') : undefined));
  const App = await declareApplication(kind === 'guarded', 'http://127.0.0.1:9');
  const started = await cpuOf(async () => (await NestFactory.create(App, { logger: false })).init());
  return { imported, started };
}

/** After a collection, so that the garbage of what was loaded before is not counted with the work. */
async function cpuOf(work) {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Starts an application with one guarded route, and reads which scripts and functions of the library run. */
async function measureApplication() {
  const inspector = new Session();
  inspector.connect();
  const loaded = new Map();
  inspector.on('Debugger.scriptParsed', ({ params: { url } }) => {
    if (url.startsWith(dist.href)) loaded.set(url, statSync(new URL(url)).size);
  });
  await inspector.post('Debugger.enable');
  const service = await startSessionService();
  const bare = await startApplication(false, service);
  const app = await startApplication(true, service);
  const call = async (token) => {
    const response = await fetch(`${app.url}/things`, { headers: { 'x-auth-token': token } });
    if (response.status !== 200)
      throw new Error(`a call was answered with ${response.status}: ${await response.text()}`);
    await response.text();
  };
  // Connections open, and everything that is loaded by use is loaded.
  for (const token of ['a', 'b', 'c', 'a']) await call(token);
  await inspector.post('Debugger.disable');
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    loaded: { files: loaded.size, bytes: [...loaded.values()].reduce((sum, size) => sum + size, 0) },
    providers: app.providers - bare.providers,
    cached: await leastCalled(inspector, () => call('a')),
    uncached: await leastCalled(inspector, (run) => call(`uncached-${run}`)),
  };
}

/** The functions and files that one call runs, at least: timers that fire meanwhile are no part of it. */
async function leastCalled(inspector, call) {
  const runs = [];
  for (let run = 0; run < 7; run += 1) {
    await inspector.post('Profiler.takePreciseCoverage');
    await call(run);
    const { result } = await inspector.post('Profiler.takePreciseCoverage');
    const called = result
      .filter(({ url }) => url.startsWith(dist.href))
      .flatMap(({ url, functions }) =>
        functions
          .filter(({ ranges: [{ count }] }) => count > 0)
          .map((called) => ({ file: sourceOf(url, called), name: called.functionName || 'without a name' })),
      );
    runs.push({
      files: new Set(called.map(({ file }) => file)).size,
      functions: called.map(({ file, name }) => `${file.replace(/^.*\/src\//, '')} ${name}`),
    });
  }
  return runs.reduce((least, run) => (run.functions.length < least.functions.length ? run : least));
}

/** The source file of a function in a bundle, by its end: source maps need not have its first word. */
function sourceOf(url, { functionName, ranges: [{ endOffset }] }) {
  if (!bundles.has(url)) {
    const code = readFileSync(new URL(url), 'utf8');
    bundles.set(url, { code, map: new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8'))) });
  }
  const { code, map } = bundles.get(url);
  const before = code.slice(0, endOffset - 1).split('\n');
  const { originalSource } = map.findEntry(before.length - 1, before.at(-1).length);
  if (!originalSource) throw new Error(`no source map has the source of ${functionName} in ${url}`);
  return originalSource;
}

async function startSessionService() {
  const server = createServer(({ headers }, response) => {
    const user = { username: `user of ${headers['x-auth-token']}`, auth_token: headers['x-auth-token'] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(user));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

async function startApplication(guarded, service) {
  const { NestFactory, ModulesContainer } = await import('@nestjs/core');
  const app = await NestFactory.create(await declareApplication(guarded, service), { logger: false });
  await app.listen(0, '127.0.0.1');
  // Nest itself gives each module its class, a reference to it and to the application as providers.
  const providers = [...app.get(ModulesContainer).values()].reduce(
    (sum, module) => sum + module.providers.size - 3,
    0,
  );
  return { url: await app.getUrl(), providers };
}

async function declareApplication(guarded, baseUrl) {
  await import('reflect-metadata');
  const { Controller, Get, Module, UseGuards } = await import('@nestjs/common');
  class Things {
    list() {
      return [];
    }
  }
  class App {}
  Get()(Things.prototype, 'list', Object.getOwnPropertyDescriptor(Things.prototype, 'list'));
  Controller('things')(Things);
  if (!guarded) Module({ controllers: [Things] })(App);
  else {
    const { SessionAuthGuard, SessionAuthModule } = await import('nestjs-session-auth');
    UseGuards(SessionAuthGuard)(Things);
    const session = SessionAuthModule.forRoot({
      baseUrl,
      apiKey: 'application-key',
      cache: { ttlMs: 300_000 },
    });
    Module({ imports: [session], controllers: [Things] })(App);
  }
  return App;
}
