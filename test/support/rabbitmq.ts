import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProcess, freePort, startOnPort, suiteWith, untilSaid } from './server-process.js';

/**
 * The program itself: the one in the path of Debian runs as another user, and writes to the folders of the
 * system.
 */
const PROGRAM = '/usr/lib/rabbitmq/bin/rabbitmq-server';
/** The start takes seconds longer if the server may open many files. */
const COMMAND = `ulimit -n 1024; exec ${PROGRAM}`;
export const describeWithRabbitMq = suiteWith(existsSync(PROGRAM));

/** A RabbitMQ server of our own, on free loopback ports, with its files in a folder of its own. */
export class RabbitMqServer {
  private constructor(
    private readonly process: ChildProcess,
    private readonly env: NodeJS.ProcessEnv,
    private readonly directory: string,
    readonly url: string,
  ) {}

  static async start(): Promise<RabbitMqServer> {
    const directory = await mkdtemp(join(tmpdir(), 'rabbitmq-'));
    let server: RabbitMqServer | undefined;
    await startOnPort(freePort, async (port) => {
      const env = await environment(directory, port);
      const started = spawn('sh', ['-c', COMMAND], { stdio: ['ignore', 'pipe', 'inherit'], env });
      await untilSaid(started, started.stdout, 'Server startup complete');
      server = new RabbitMqServer(started, env, directory, `amqp://127.0.0.1:${port}`);
    });
    return server as never;
  }

  async close(): Promise<void> {
    await endProcess(this.process, 'SIGTERM');
    spawnSync('epmd', ['-kill'], { env: this.env });
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Everything that the server would share with another on the same machine. */
async function environment(directory: string, port: number): Promise<NodeJS.ProcessEnv> {
  return {
    PATH: process.env.PATH,
    HOME: directory,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(await freePort()),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(directory, 'advanced'),
    RABBITMQ_CONFIG_FILE: join(directory, 'config'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_DIST_PORT: String(await freePort()),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'plugins'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(directory, 'generated'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_LOG_BASE: directory,
    RABBITMQ_MNESIA_BASE: join(directory, 'database'),
    RABBITMQ_NODENAME: `test-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_PID_FILE: join(directory, 'pid'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  };
}
