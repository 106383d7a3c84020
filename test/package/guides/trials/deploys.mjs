import { equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expectStatus, freePort, trial } from './support.mjs';

await trial('deploys', async () => {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const server = spawn(process.execPath, ['dist/deploys/src/main.js'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(server, 'exit');
  const ask = (path) => fetch(`http://127.0.0.1:${port}/health/${path}`);
  try {
    const last = performance.now() + 30_000;
    while (!(await ask('live').catch(() => undefined)) && performance.now() < last) await setTimeout(50);
    await expectStatus(ask('ready'), 200);
    server.kill('SIGTERM');
    let reply = await ask('ready');
    while (reply.status === 200 && performance.now() < last) reply = await ask('ready');
    await expectStatus(reply, 503);
    equal(reply.headers.get('connection'), 'close');
    // The drain: it still serves.
    await expectStatus(ask('live'), 200);
    const [, signal] = await exited;
    equal(signal, 'SIGTERM');
  } finally {
    server.kill('SIGKILL');
  }
});
