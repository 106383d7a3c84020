import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { buildDemo } from './built-demo.js';
import { DemoClient } from './demo-client.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the built demo', () => {
  const started: ChildProcess[] = [];

  beforeAll(buildDemo);

  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  /** Starts the demo's process with only the variables of this test's environment that Node needs. */
  function start() {
    const child = spawn(process.execPath, ['apps/demo/dist/main.js'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    started.push(child);
    const ended = once(child, 'close') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
    return { child, ended, lines: createInterface(child.stdout) };
  }

  it('prints its URL and its users, and exits by itself on SIGTERM', async () => {
    const { child, ended, lines } = start();
    const [greeting] = (await once(lines, 'line')) as [string];
    expect(greeting).toMatch(/^The demo is at http:\/\/127\.0\.0\.1:\d+ .*manager \/ manager-demo/);

    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(greeting)?.[0] ?? '';
    const client = new DemoClient(url);
    expect((await client.signIn('manager', 'manager-demo')).status).toBe(200);
    expect((await client.get('/')).status).toBe(200);

    child.kill('SIGTERM');
    await expect(ended).resolves.toEqual([0, null]);
  });
});
