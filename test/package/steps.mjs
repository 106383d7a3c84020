// Steps of a trial: programs that must end by themselves.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAX_STEP_MS = 300_000;

/** Arguments of `npm` that install an application quickly and quietly. */
export const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error'];

/** Does something in a folder of its own, which is removed afterwards. */
export async function inFolder(name, work) {
  const folder = mkdtempSync(join(tmpdir(), `session-auth-${name}-`));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A step whose output is shown; it must succeed. */
export async function run(cwd, command, ...args) {
  const { code } = await ended(cwd, command, args, { stdio: 'inherit' });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
}

/** Runs a quiet step that must succeed. Returns its output. */
export async function output(cwd, command, args, env = process.env) {
  const { code, said } = await ended(cwd, command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said}`);
  return said;
}

/** Writes the manifest of an application, and installs its dependencies. */
export async function install(folder, manifest) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }, undefined, 2));
  await output(folder, 'npm', [...INSTALL, '--no-package-lock']);
}

/**
 * Returns the exit code of a step and, unless it is shown, its output. Kills a step that does not end in
 * time.
 */
export async function ended(cwd, command, args, options = { stdio: ['ignore', 'pipe', 'pipe'] }) {
  const child = spawn(command, args, { cwd, ...options });
  let said = '';
  for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk) => (said += chunk));
  const overdue = setTimeout(() => child.kill('SIGKILL'), MAX_STEP_MS);
  const [code] = await once(child, 'close');
  clearTimeout(overdue);
  return { code, said };
}
