// Tries the packed commands as a new user does: with npx, in an empty folder, against a service of the
// command `dev` and against the reference service.
import { equal, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended, inFolder, install } from './steps.mjs';

const MAX_BYTES = 48_000;
const reference = fileURLToPath(new URL('../../apps/session-service/dist/main.js', import.meta.url));
const KEYS = { SESSION_SERVICE_API_KEY: 'demo-api-key', SESSION_SERVICE_PASSWORD: 'manager-demo' };

export async function checkCommands(tarball) {
  const { size } = statSync(tarball);
  console.log(`the tarball of the commands: ${size} of ${MAX_BYTES} bytes`);
  if (size > MAX_BYTES) throw new Error('the tarball of the commands is over its budget');
  await inFolder('cli', async (folder) => {
    await install(folder, { dependencies: { 'nestjs-session-auth-cli': `file:${tarball}` } });
    const dev = ['npx', 'nestjs-session-auth-cli', 'dev', '--port', '0', '--user', 'manager:manager-demo'];
    await against(folder, dev, KEYS);
    await against(folder, [process.execPath, reference], { PORT: '0', DATA_DIR: join(folder, 'data') });
  });
}

/** Starts a service, which prints its URL, and lets `doctor` and `contract` call it. */
async function against(folder, [program, ...args], settings) {
  const env = { ...process.env, ...settings };
  const service = spawn(program, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    const [greeting] = await once(service.stdout, 'data');
    const [url] = /http:[^\s,]+/.exec(String(greeting));
    for (const [command, expected] of [
      ['doctor', /^ok +guard: .*accepts the session/m],
      ['contract', /^\d+ rows: \d+ ok/m],
    ]) {
      const options = { env: { ...process.env, ...KEYS }, stdio: ['ignore', 'pipe', 'pipe'] };
      const words = ['nestjs-session-auth-cli', command, '--url', url, '--user', 'manager'];
      const { code, said } = await ended(folder, 'npx', words, options);
      equal(code, 0, said);
      match(said, expected);
    }
    console.log(`the commands: doctor and contract hold for ${args.join(' ')}`);
  } finally {
    // npx starts the command as a process of its own.
    process.kill(-service.pid, 'SIGTERM');
    await once(service, 'close');
  }
}
