import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { endProcess, freePort, startOnPort, suiteWith, untilSaid } from './server-process.js';

/** A server in a cluster takes the port 10 000 above its own too. */
const MAX_PORT = 55_000;
export const describeWithRedis = suiteWith(spawnSync('redis-server', ['--version']).status === 0);

/** A client that lets a process end soon after the server is killed. */
export function redisClient(port: number): Redis {
  const redis = new Redis(port, '127.0.0.1', { disconnectTimeout: 100 });
  redis.on('error', () => undefined);
  return redis;
}

/** A Redis server of our own, on a free loopback port, which keeps nothing on the disk. */
export class RedisServer {
  #process: ChildProcess | undefined;
  #port = 0;

  private constructor(
    private readonly directory: string,
    private readonly settings: readonly string[],
  ) {}

  /** Starts one; `settings` as on its command line. */
  static async start(...settings: string[]): Promise<RedisServer> {
    const server = new RedisServer(await mkdtemp(join(tmpdir(), 'redis-')), settings);
    await server.run();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  /**
   * Starts it, later again at the same port and empty. Tries more than once: another process may take the
   * free port first.
   */
  async run(): Promise<void> {
    this.#port = await startOnPort(
      () => this.#port || freePort(MAX_PORT),
      (port) => this.#runOn(port),
    );
  }

  /** Ends it as a power cut does. */
  kill(): Promise<void> {
    return endProcess(this.#process, 'SIGKILL');
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }

  async #runOn(port: number): Promise<void> {
    const place = ['--dir', this.directory, '--save', '', '--appendonly', 'no'];
    const address = ['--port', String(port), '--bind', '127.0.0.1'];
    const server = spawn('redis-server', [...address, ...place, ...this.settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process = server;
    await untilSaid(server, server.stdout, 'Ready to accept connections');
  }
}
