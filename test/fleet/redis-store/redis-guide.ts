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
/** The servers of each section, step by step. `grant` is the command that the page prints, for one of them. */
const SERVERS: Record<string, (grant: (port: number, options?: string) => string) => string[]> = {
  'The rights of the user': (grant) => ['redis-server --port 6379 &', grant(6379)],
  TLS: (grant) => [
    `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=redis \\
      -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout redis.key -out redis.crt
    redis-server --port 0 --tls-port 6390 --tls-cert-file redis.crt --tls-key-file redis.key \\
      --tls-ca-cert-file redis.crt --tls-auth-clients no &`,
    grant(6390, '--tls --cacert redis.crt'),
  ],
  Sentinel: (grant) => [
    'redis-server --port 6379 &\nredis-server --port 6380 --replicaof 127.0.0.1 6379 &',
    `${grant(6379)}
    ${grant(6380)}
    for port in 26379 26380 26381; do
      printf '%s\\n' "port $port" 'sentinel monitor main 127.0.0.1 6379 2' \\
        'sentinel down-after-milliseconds main 1000' > sentinel-$port.conf
      redis-server sentinel-$port.conf --sentinel &
    done`,
  ],
  Cluster: (grant) => [
    `for port in ${NODES.join(' ')}; do
      redis-server --port $port --cluster-enabled yes --cluster-config-file nodes-$port.conf \\
        --cluster-node-timeout 5000 --save '' &
    done`,
    `redis-cli --cluster create ${NODES.map((port) => `127.0.0.1:${port}`).join(' ')} \\
      --cluster-replicas 1 --cluster-yes
    ${NODES.map((port) => grant(port)).join('\n')}`,
  ],
};
const NODES = [7001, 7002, 7003, 7004, 7005, 7006];
const PORT = /\b(?:63[79]\d|6380|700\d|263\d\d)\b/g;

/** The exports of a section's code. */
export interface GuideModule {
  readonly redis: Redis | Cluster;
  readonly store: RedisSessionStore;
}

/** One section of docs/redis.md: its servers and its code, on ports that are free. */
export class GuideSection {
  readonly #groups: number[] = [];
  readonly #ports = new Map<string, number>();
  readonly #code = join(ROOT, `dist/docs-redis/${randomUUID()}`);

  private constructor(
    private readonly text: string,
    readonly directory: string,
  ) {}

  /** Starts the servers of a section, and grants their user the rights of the page. */
  static async start(heading: string): Promise<GuideSection> {
    const page = await readFile(join(ROOT, 'docs/redis.md'), 'utf8');
    const sections = page.split(/^## /m);
    const text = sections.find((section) => section.startsWith(`${heading}\n`)) ?? '';
    const rights = /^redis-cli (ACL [^`]+)\n```/m.exec(page)?.[1];
    const further = /The user also needs `([^`]+)`/.exec(text)?.[1] ?? '';
    if (rights === undefined) throw new Error('docs/redis.md has no command that grants rights');
    const steps = SERVERS[heading]?.(
      (port, options = '') => `redis-cli -p ${port} ${options} ${rights} ${further}`,
    );
    if (steps === undefined) throw new Error(`there are no servers for ${heading}`);
    const section = new GuideSection(text, await mkdtemp(join(tmpdir(), 'redis-guide-')));
    for (const [port] of [text, ...steps].join('\n').matchAll(PORT)) {
      if (!section.#ports.has(port)) section.#ports.set(port, await freePort(MAX_PORT));
    }
    for (const step of steps) await section.#run(section.#onFreePorts(step));
    return section;
  }

  /** The only code of the section. */
  async load(): Promise<GuideModule> {
    const file = join(this.#code, 'guide.ts');
    await mkdir(this.#code, { recursive: true });
    const blocks = [...this.text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block = '']) => block);
    await writeFile(file, this.#onFreePorts(blocks.join('\n')));
    const guide = (await import(file)) as GuideModule;
    guide.redis.on('error', () => undefined);
    return guide;
  }

  /** Ends all servers. */
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

  #onFreePorts(text: string): string {
    return text.replace(PORT, (port) => String(this.#ports.get(port)));
  }

  async #run(step: string): Promise<void> {
    const log = join(this.directory, 'log');
    // Jest's process.env is a copy of its own.
    const shell = spawn('bash', ['-ec', `exec >>${log} 2>&1\n${step}`], {
      cwd: this.directory,
      env: process.env,
      detached: true,
      stdio: 'ignore',
    });
    if (shell.pid !== undefined) this.#groups.push(shell.pid);
    const [code] = (await once(shell, 'exit')) as [number];
    if (code !== 0) throw new Error(`Failed:\n${step}\n${await readFile(log, 'utf8')}`);
    const ports = [...this.#ports.values()].filter((port) => step.includes(String(port)));
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
