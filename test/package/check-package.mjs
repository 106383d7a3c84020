// Installs the packed tarball in an empty NestJS 12 application, as a user would, type-checks it, runs it and asks it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_TARBALL_BYTES = 80_000;
const MAX_RUN_MS = 20_000;
const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = join(root, 'dist/packages');

const [name, ...others] = readdirSync(packages);
if (!name || others.length > 0) fail(`dist/packages/ must hold the tarball alone, and holds: ${[name, ...others].join(', ')}`);
const tarball = join(packages, name);
const { size } = statSync(tarball);
if (size > MAX_TARBALL_BYTES) fail(`the tarball has ${size} bytes; the budget is ${MAX_TARBALL_BYTES}`);
console.log(`${name}: ${size} bytes`);

run('npx', ['publint', 'run', tarball, '--strict'], root);
run('npx', ['attw', tarball, '--profile', 'node16'], root);

const app = mkdtempSync(join(tmpdir(), 'session-auth-app-'));
try {
  cpSync(join(root, 'test/package/empty-app'), app, { recursive: true });
  run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], app);
  run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--no-save', tarball], app);
  run('npx', ['tsc', '-p', '.'], app);
  await ask(app);
} finally {
  rmSync(app, { recursive: true, force: true });
}
console.log('the packed library installs, type-checks and runs in an empty NestJS 12 application');

/** Runs the application, which checks itself, says so, and must end by itself. */
async function ask(cwd) {
  const child = spawn(process.execPath, ['dist/main.js'], { cwd, stdio: 'inherit' });
  const overdue = setTimeout(() => child.kill('SIGKILL'), MAX_RUN_MS);
  const [code] = await once(child, 'exit');
  clearTimeout(overdue);
  if (code !== 0) fail(`the application ended with ${code}`);
}

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: 'inherit' });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
