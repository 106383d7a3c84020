import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { freePort } from '../free-port.mjs';

const run = promisify(execFile);
const CONNECTIONS = 50;

/** A redis-server without persistence. */
export class RedisProcess {
  #port;
  #server;
  #subscribers = [];

  constructor(port, server) {
    this.#port = port;
    this.#server = server;
  }

  static async start() {
    const port = String(await freePort());
    const server = spawn('redis-server', [
      '--port',
      port,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
    ]);
    for await (const lines of server.stdout) if (String(lines).includes('Ready to accept connections')) break;
    return new RedisProcess(port, server);
  }

  get port() {
    return this.#port;
  }

  stop() {
    for (const socket of this.#subscribers) socket.destroy();
    this.#server.kill();
  }

  async cli(...command) {
    return (await run('redis-cli', ['-p', this.#port, ...command])).stdout.trim();
  }

  async info(section, name) {
    return Number(new RegExp(`^${name}:(.*)$`, 'm').exec(await this.cli('INFO', section))[1]);
  }

  async version() {
    return /^redis_version:(\S+)/m.exec(await this.cli('INFO', 'server'))[1];
  }

  async processorSeconds() {
    return (await this.info('cpu', 'used_cpu_user')) + (await this.info('cpu', 'used_cpu_sys'));
  }

  async load(commands) {
    const client = spawn('redis-cli', ['-p', this.#port, '--pipe'], { stdio: ['pipe', 'pipe', 'inherit'] });
    client.stdin.end(
      commands.map((command) => `*${command.length}\r\n${command.map(bulk).join('')}`).join(''),
    );
    const said = await text(client.stdout);
    if (!said.includes('errors: 0,')) throw new Error(said);
  }

  async benchmark(count, command, { connections = CONNECTIONS, range = 100_000 } = {}) {
    const options = [
      '-p',
      this.#port,
      '-n',
      String(count),
      '-c',
      String(connections),
      '-r',
      String(range),
      '-q',
    ];
    const { stdout } = await run('redis-benchmark', [...options, ...command]);
    if (/error/i.test(stdout)) throw new Error(stdout);
  }

  /** Starts subscribers of a channel. Returns a promise of the bytes that are published to them. */
  async subscribe(count, channel) {
    let bytes = 0;
    const listen = async () => {
      const socket = connect(this.#port, '127.0.0.1');
      this.#subscribers.push(socket);
      socket.write(`*2\r\n${bulk('SUBSCRIBE')}${bulk(channel)}`);
      await once(socket, 'data');
      socket.on('data', (chunk) => (bytes += chunk.length));
    };
    await Promise.all(Array.from({ length: count }, listen));
    const received = async (messages, message) => {
      const expected = messages * count * `*3\r\n${bulk('message')}${bulk(channel)}${bulk(message)}`.length;
      for (let waits = 0; bytes < expected && waits < 3_000; waits += 1)
        await new Promise((resolve) => setTimeout(resolve, 10));
      if (bytes !== expected) throw new Error(`${bytes} bytes arrived instead of ${expected}`);
      return bytes;
    };
    return { received };
  }
}

const bulk = (part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`;
