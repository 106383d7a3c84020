// Runs end-to-end tests on NestJS 11, from the same sources. Arguments are those of Jest: patterns of test
// files, or else SUITES.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where the versions of NestJS differ, without those for which other programs run. */
const SHORT_SUITES = [
  'test/access/(narrower-guard|rules-in-effect)',
  'test/cache/freshness',
  'test/graphql/(fields|resolvers)',
  'test/messages/(?!kafka|rabbitmq)',
  'test/open/(?!another-instance|behind-nginx|event-source)',
  'test/module/audit/unguarded-rules',
  'test/sockets/(acknowledgements|gateways|handshakes)',
];
/** Whole concepts that depend on the version of NestJS. */
const CONCEPTS = [
  'test/(access|context|graphql|messages|module|open|sockets|token)/',
  'test/cache/freshness',
  'test/check/shared-call',
  'test/revocation/',
];
/** The name of a test of a row that an attack found (docs/faults.md). */
const ATTACK = /\[[PQ]\d\d\]['"`]/;

const folder = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const SUITES = process.env.LONG_TESTS === '1' ? [...CONCEPTS, ...suitesWith(ATTACK)] : SHORT_SUITES;

const args = process.argv.slice(2);
const patterns = args.some((arg) => !arg.startsWith('-')) ? [] : SUITES;

if (!isInstalled()) run('npm', ['ci', '--prefix', folder, '--silent']);
run(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=64',
    `${root}node_modules/jest/bin/jest.js`,
    '--config',
    `${folder}jest.config.mjs`,
    ...patterns,
    ...args,
  ],
  { NEST_MAJOR: '11' },
);

/** Returns the suites whose text matches. */
function suitesWith(pattern) {
  return readdirSync(`${root}test`, { recursive: true })
    .filter((name) => name.endsWith('.e2e-spec.ts') && !name.includes('node_modules'))
    .filter((name) => pattern.test(readFileSync(`${root}test/${name}`, 'utf8')))
    .map((name) => `test/${name}`);
}

/** Whether the installed packages match the lock file. */
function isInstalled() {
  try {
    return (
      statSync(`${folder}node_modules/.package-lock.json`).mtimeMs >=
      statSync(`${folder}package-lock.json`).mtimeMs
    );
  } catch {
    return false;
  }
}

function run(command, parameters, env = {}) {
  const { status } = spawnSync(command, parameters, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exit(status ?? 1);
}
