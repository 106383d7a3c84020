// Runs `npx nest add nestjs-session-auth` as a new user would, in two applications that know nothing of it;
// then type-checks and starts each.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRegistry } from './local-registry.mjs';
import { nestAdd, runNestAdd, UNSET } from './nest-add.mjs';
import { GUARDED_CONTROLLER, layOutNestApp, NEST_APPS } from './nest-apps.mjs';
import { ended, inFolder, INSTALL, output } from './steps.mjs';

/** A service that receives no call: a request without a token is refused before. */
const KEYS = { SESSION_SERVICE_URL: 'http://127.0.0.1:9', SESSION_SERVICE_API_KEY: 'key-of-the-application' };

export async function checkNestAdd(tarball) {
  const registry = await startRegistry(tarball);
  try {
    const outcomes = await Promise.allSettled(NEST_APPS.map((app) => check(app, registry.url)));
    for (const { reason } of outcomes) if (reason) throw reason;
  } finally {
    registry.close();
  }
}

async function check(app, registry) {
  const began = performance.now();
  await inFolder('nest-add', async (folder) => {
    layOutNestApp(app, folder);
    await output(folder, 'npm', INSTALL);
    await nestAdd(folder, registry, ...app.options);
    await secondTimeChangesNothing(folder, registry);
    if (app.options.length === 0) writeFileSync(join(folder, 'src/app.controller.ts'), GUARDED_CONTROLLER);
    await closedAndRunning(folder);
  });
  console.log(
    `${app.name}: nest add, and the steps after it (${Math.round((performance.now() - began) / 1000)} s)`,
  );
}

async function secondTimeChangesNothing(folder, registry) {
  const before = filesOf(folder);
  const said = await runNestAdd(folder, registry, '--skip-install');
  assert.match(said, /already registered in src\/app[.]module[.]ts/);
  assert.deepEqual(filesOf(folder), before);
}

function filesOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes('node_modules'));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

/** Builds and starts it, with the variables in every state that a user leaves them in. */
async function closedAndRunning(folder) {
  await output(folder, 'npx', ['nest', 'build']);
  assert.ok(!existsSync(join(folder, '.env')), '.env is the user’s');

  await refusesToStart(folder, /SESSION_SERVICE_URL/);
  assert.equal(await statusOf(folder, KEYS), 401);
  writeFileSync(join(folder, '.env'), readFileSync(join(folder, '.env.example')));
  await refusesToStart(folder, /baseUrl/);
  const lines = Object.entries(KEYS).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
  assert.equal(await statusOf(folder, {}), 401);
}

/** Returns the status of the guarded route without a token. */
async function statusOf(folder, variables) {
  const server = spawn(process.execPath, ['dist/main.js'], {
    cwd: folder,
    env: { ...UNSET, ...variables, PORT: '0' },
  });
  try {
    const url = await new Promise((resolve, reject) => {
      let said = '';
      const read = (chunk) => {
        said += chunk;
        const [, address] = /listening on (http\S+)\n/.exec(said) ?? [];
        if (address) resolve(address);
      };
      server.stdout.on('data', read);
      server.stderr.on('data', read);
      server.once('close', () => reject(new Error(`the application ended:\n${said}`)));
    });
    return (await fetch(url.replace('[::1]', 'localhost'))).status;
  } finally {
    server.kill('SIGKILL');
  }
}

async function refusesToStart(folder, words) {
  const { code, said } = await ended(folder, process.execPath, ['dist/main.js'], {
    env: { ...UNSET, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  assert.notEqual(code, 0, said);
  assert.match(said, words);
}
