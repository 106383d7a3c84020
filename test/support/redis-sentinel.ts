import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer } from './redis.js';
import { endProcess, freePort, untilSaid } from './server-process.js';

/** Name of the master that a sentinel knows. */
export const MASTER = 'main';

/** A Redis server, and a sentinel that knows its address. */
export class RedisSentinel {
  private constructor(
    readonly server: RedisServer,
    readonly port: number,
    private readonly sentinel: ChildProcess,
    private readonly directory: string,
  ) {}

  static async start(): Promise<RedisSentinel> {
    const server = await RedisServer.start();
    const [directory, port] = [await mkdtemp(join(tmpdir(), 'sentinel-')), await freePort()];
    const file = join(directory, 'sentinel.conf');
    const watched = `sentinel monitor ${MASTER} 127.0.0.1 ${server.port} 1`;
    await writeFile(file, `bind 127.0.0.1\nport ${port}\ndir ${directory}\n${watched}`);
    const sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await untilSaid(sentinel, sentinel.stdout, '+monitor');
    return new RedisSentinel(server, port, sentinel, directory);
  }

  async close(): Promise<void> {
    await endProcess(this.sentinel, 'SIGKILL');
    await this.server.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
