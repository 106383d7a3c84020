import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe } from '@jest/globals';

const START_ATTEMPTS = 10;

/** A suite that needs a program: skipped where it is missing, or failing where REQUIRE_SERVICES is set. */
export function suiteWith(isInstalled: boolean): typeof describe | typeof describe.skip {
  return isInstalled || process.env.REQUIRE_SERVICES === '1' ? describe : describe.skip;
}

/** Ends a process, unless it has ended. Resolves when it is gone. */
export async function endProcess(server: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (server?.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'close');
  server.kill(signal);
  await ended;
}

/** A port of the loopback interface that no program uses. */
export async function freePort(below = 65_536): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    if (port < below) return port;
  }
}

/**
 * Starts something on a port that it names, and returns the port. Tries more than once: another process may
 * take it first.
 */
export async function startOnPort(
  nextPort: () => number | Promise<number>,
  start: (port: number) => Promise<void>,
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await nextPort();
    try {
      await start(port);
      return port;
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

/**
 * Resolves when the output of a server says that it is ready, and rejects with the output if it ends instead.
 * Keeps reading, so that its pipe does not fill.
 */
export function untilSaid(server: ChildProcess, output: Readable | null, words: string): Promise<void> {
  const log: string[] = [];
  return new Promise((resolve, reject) => {
    if (output) {
      createInterface(output).on('line', (line) => {
        log.push(line);
        if (line.includes(words)) resolve();
      });
    }
    server.once('error', reject);
    server.once('close', () => reject(new Error(`${server.spawnfile} ended:\n${log.join('\n')}`)));
  });
}
