import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A Redis of our own on a loopback port, which keeps nothing on the disk. */
export class RedisServer {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(port: number, process: ChildProcess) {
    this.port = port;
    this.#process = process;
  }

  static async start(): Promise<RedisServer> {
    const port = await freePort();
    const place = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const server = spawn('redis-server', place, { stdio: ['ignore', 'pipe', 'inherit'] });
    await Promise.race([
      ready(server),
      once(server, 'error').then(([error]) => Promise.reject(error as Error)),
    ]);
    return new RedisServer(port, server);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'close');
    this.#process.kill('SIGKILL');
    await ended;
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

async function ready({ stdout }: ChildProcess): Promise<void> {
  let output = '';
  await new Promise<void>((resolve) => {
    stdout?.on('data', (chunk: Buffer) => {
      output = `${output}${chunk.toString()}`.slice(-2_000);
      if (output.includes('Ready to accept connections')) resolve();
    });
  });
}
