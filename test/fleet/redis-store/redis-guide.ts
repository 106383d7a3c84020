import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster, Redis } from 'ioredis';
import type { RedisSessionStore } from 'nestjs-session-auth/redis';
import { freePort } from '../../support/server-process.js';
import { until } from '../../support/until.js';

const ROOT = join(import.meta.dirname, '../../..');
/** A node of a cluster takes the port 10 000 above its own too. */
const MAX_PORT = 55_000;
const PORT = /\b(?:63[79]\d|6380|700\d|263\d\d)\b/g;

/** The exports of a section's code. */
export interface GuideModule {
  readonly redis: Redis | Cluster;
  readonly store: RedisSessionStore;
}

/** One section of docs/redis.md: its commands and its code, on ports that are free. */
export class GuideSection {
  readonly #groups: number[] = [];
  readonly #ports = new Map<string, number>();
  readonly #code = join(ROOT, `dist/docs-redis/${randomUUID()}`);

  private constructor(
    private readonly text: string,
    readonly directory: string,
  ) {}

  /** Runs the commands of a section, block by block. */
  static async start(heading: string): Promise<GuideSection> {
    const page = await readFile(join(ROOT, 'docs/redis.md'), 'utf8');
    const text = page.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';
    const section = new GuideSection(text, await mkdtemp(join(tmpdir(), 'redis-guide-')));
    for (const [port] of text.matchAll(PORT)) {
      if (!section.#ports.has(port)) section.#ports.set(port, await freePort(MAX_PORT));
    }
    const blocks = section.#blocks('sh');
    if (blocks.length === 0) throw new Error(`docs/redis.md has no commands under ${heading}`);
    for (const block of blocks) await section.#run(block);
    return section;
  }

  /** The port that a port of the page became. */
  port(port: number): number {
    return this.#ports.get(String(port)) ?? port;
  }

  /** The only code of the section. */
  async load(): Promise<GuideModule> {
    const file = join(this.#code, 'guide.ts');
    await mkdir(this.#code, { recursive: true });
    await writeFile(file, this.#blocks('ts').join('\n'));
    const guide = (await import(file)) as GuideModule;
    guide.redis.on('error', () => undefined);
    return guide;
  }

  /** Ends all servers that the commands started. */
  async close(): Promise<void> {
    for (const group of this.#groups) {
      try {
        process.kill(-group, 'SIGKILL');
      } catch {
        // It started no server.
      }
    }
    await rm(this.directory, { recursive: true, force: true });
    await rm(this.#code, { recursive: true, force: true });
  }

  #blocks(language: string): string[] {
    const blocks = this.text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
    return [...blocks].map(([, block = '']) => block.replace(PORT, (port) => String(this.#ports.get(port))));
  }

  async #run(block: string): Promise<void> {
    const log = join(this.directory, 'log');
    // Jest's process.env is a copy of its own.
    const shell = spawn('bash', ['-ec', `exec >>${log} 2>&1\n${block}`], {
      cwd: this.directory,
      env: process.env,
      detached: true,
      stdio: 'ignore',
    });
    if (shell.pid !== undefined) this.#groups.push(shell.pid);
    const [code] = (await once(shell, 'exit')) as [number];
    if (code !== 0) throw new Error(`Failed:\n${block}\n${await readFile(log, 'utf8')}`);
    const ports = [...this.#ports.values()].filter((port) => block.includes(String(port)));
    await until('the servers listen', async () => (await Promise.all(ports.map(isListening))).every(Boolean));
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
