// Checks an application on a runtime from outside: as its users, and as the session service.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startService } from './session-service.mjs';

const TIMEOUT_MS = 1_000;
const MAX_START_MS = 60_000;
const MAX_CLOSE_MS = 10_000;
const SEQUENTIAL_CALLS = 5;

/** The checks, in the order in which they run on one application. Each is a column of the table. */
export const CHECKS = {
  async cold({ ask, service }) {
    const before = service.seen.calls;
    assert.deepEqual(await ask('/me', 'manager-cold'), {
      status: 200,
      body: { username: 'ann', role: 'manager' },
    });
    assert.equal((await ask('/me')).status, 401);
    assert.equal(service.seen.calls, before + 1);
    assert.equal((await ask('/me', 'unknown-token')).status, 401);
    assert.equal((await ask('/managers', 'new_hire-token')).status, 403);
    assert.equal((await ask('/managers', 'hiring_manager-token')).status, 200);
  },
  async cached({ ask, service }) {
    const before = service.seen.calls;
    assert.equal((await ask('/me', 'manager-cold')).status, 200);
    assert.equal(service.seen.calls, before);
  },
  async 'sign-in'({ ask, service }) {
    const signIn = (password) =>
      ask('/session', undefined, { method: 'POST', body: JSON.stringify({ username: 'ann', password }) });
    assert.deepEqual(await signIn('right'), { status: 200, body: { token: 'manager-signed-in' } });
    assert.equal((await signIn('wrong')).status, 401);
    const before = service.seen.calls;
    assert.equal((await ask('/session', 'manager-cold', { method: 'DELETE' })).status, 204);
    assert.equal((await ask('/me', 'manager-cold')).status, 200);
    assert.equal(service.seen.calls, before + 2, 'a sign-out evicts the session');
  },
  async 'keep-alive'({ ask, service }) {
    await ask('/me', 'manager-first');
    const before = service.seen.connections;
    for (let call = 0; call < SEQUENTIAL_CALLS; call += 1)
      assert.equal((await ask('/me', `manager-${call}`)).status, 200);
    assert.equal(service.seen.connections, before, 'connections are reused');
  },
  async limit({ ask, service }) {
    assert.equal((await ask('/me', 'long-token')).status, 503);
    const began = performance.now();
    assert.equal((await ask('/me', 'endless-token')).status, 503);
    assert.ok(performance.now() - began < TIMEOUT_MS, 'the limit ends the call, and not the timeout');
    assert.ok(service.seen.chunks < 1_000, `the service could send ${service.seen.chunks} chunks`);
  },
  async timeout({ ask }) {
    const began = performance.now();
    assert.equal((await ask('/me', 'silent-token')).status, 503);
    const took = performance.now() - began;
    assert.ok(
      took > TIMEOUT_MS * 0.9 && took < TIMEOUT_MS * 3,
      `the answer came after ${Math.round(took)} ms`,
    );
  },
  async outage({ ask, service }) {
    await service.stop();
    assert.equal((await ask('/me', 'manager-outage')).status, 503);
    assert.equal((await ask('/me', 'manager-first')).status, 200, 'a cached session works during an outage');
  },
  async close({ ask, ended }) {
    assert.equal((await ask('/close', undefined, { method: 'POST' })).status, 202);
    const late = new Promise((resolve) => setTimeout(resolve, MAX_CLOSE_MS, 'still running').unref());
    assert.deepEqual(await Promise.race([ended, late]), [0, null], 'the process ends by itself');
  },
};

/** Starts an application and runs the checks. Returns the outcome of each check: `true`, or the failure. */
export async function tryOut({ command, args, cwd, variables }) {
  const service = await startService();
  const env = {
    ...process.env,
    SESSION_SERVICE_URL: service.url,
    TIMEOUT_MS: String(TIMEOUT_MS),
    ...variables,
  };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const said = [];
  try {
    const url = await addressOf(child, said);
    const ask = askingAt(url);
    const outcomes = {};
    for (const [name, check] of Object.entries(CHECKS))
      outcomes[name] = await outcomeOf(() => check({ ask, service, ended }));
    return { outcomes, said };
  } catch (error) {
    return { outcomes: Object.fromEntries(Object.keys(CHECKS).map((name) => [name, error.message])), said };
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
    await service.stop();
  }
}

async function outcomeOf(check) {
  try {
    await check();
    return true;
  } catch (error) {
    return error.message;
  }
}

/** Resolves with the address that the application prints, and rejects with its output if it ends instead. */
function addressOf(child, said) {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`it does not listen:\n${said.join('\n')}`)), MAX_START_MS).unref();
    const [output, errors] = [createInterface(child.stdout), createInterface(child.stderr)];
    for (const lines of [output, errors]) lines.on('line', (line) => said.push(line));
    output.on(
      'line',
      (line) => line.startsWith('listening on ') && resolve(line.slice('listening on '.length)),
    );
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`it ended with ${code}:\n${said.join('\n')}`)));
  });
}

function askingAt(url) {
  return async (path, token, options = {}) => {
    const headers = {
      ...(options.body && { 'content-type': 'application/json' }),
      ...(token && { 'x-auth-token': token }),
    };
    const reply = await fetch(`${url}${path}`, {
      ...options,
      headers,
      signal: AbortSignal.timeout(10 * TIMEOUT_MS),
    });
    const text = await reply.text();
    return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
}
