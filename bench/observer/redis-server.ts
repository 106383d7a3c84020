import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A dedicated redis-server, on a free loopback port. */
export class RedisServer {
  readonly #directory: string;
  readonly port: number;
  #process: ChildProcess | undefined;

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.port = port;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await mkdtemp(join(tmpdir(), 'observer-redis-')), await freePort());
    await server.run();
    return server;
  }

  /** Starts or restarts it: empty, or with its last snapshot. */
  async run(): Promise<void> {
    const place = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#directory];
    const server = spawn('redis-server', [...place, '--save', '', '--appendonly', 'no'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process = server;
    for await (const lines of server.stdout) if (String(lines).includes('Ready to accept connections')) break;
    server.stdout.resume();
  }

  /** Kills it, as a power cut does. */
  async kill(): Promise<void> {
    const server = this.#process;
    if (server?.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }

  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  async command(name: string, ...args: string[]): Promise<unknown> {
    const client = new Redis({
      port: this.port,
      host: '127.0.0.1',
      lazyConnect: true,
      retryStrategy: () => null,
    });
    client.on('error', () => undefined);
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  /** Deletes the snapshot, so that the next start is empty. */
  async dropSaved(): Promise<void> {
    await rm(join(this.#directory, 'dump.rdb'), { force: true });
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
