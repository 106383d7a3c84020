import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { endProcess, freePort, startOnPort, suiteWith } from './server-process.js';
import { until } from './until.js';

/** Where Debian has it, too. */
const PATH = [process.env.PATH, '/usr/sbin'].join(delimiter);
export const describeWithNginx = suiteWith(spawnSync('nginx', ['-v'], { env: { PATH } }).status === 0);

/** An nginx of our own, on a free loopback port. */
export class NginxServer {
  private process: ChildProcess | undefined;
  private currentPort = 0;

  private constructor(private readonly directory: string) {}

  /** Starts one. `http` and `server` are lines of these blocks of its configuration. */
  static async start({
    http = '',
    server,
  }: {
    readonly http?: string;
    readonly server: string;
  }): Promise<NginxServer> {
    const nginx = new NginxServer(await mkdtemp(join(tmpdir(), 'nginx-')));
    nginx.currentPort = await startOnPort(freePort, (port) => nginx.run(port, http, server));
    return nginx;
  }

  get url(): string {
    return `http://127.0.0.1:${this.currentPort}`;
  }

  async close(): Promise<void> {
    await endProcess(this.process, 'SIGTERM');
    await rm(this.directory, { recursive: true, force: true });
  }

  private async run(port: number, http: string, server: string): Promise<void> {
    const file = join(this.directory, 'nginx.conf');
    await writeFile(
      file,
      configuration(this.directory, `${http}\nserver {\nlisten 127.0.0.1:${port};\n${server}\n}`),
    );
    const child = spawn('nginx', ['-p', this.directory, '-c', file, '-e', 'stderr'], {
      env: { PATH },
      stdio: 'ignore',
    });
    this.process = child;
    await until('nginx listens, or has ended', async () => child.exitCode !== null || (await isOpen(port)));
    if (child.exitCode !== null) throw new Error('nginx ended');
  }
}

function configuration(directory: string, http: string): string {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `daemon off;\nworker_processes 1;\n${user}\npid ${directory}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${places.join('\n')}\n${http}\n}\n`;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const outcome = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return outcome;
}
