import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import { endProcess, freePort, startOnPort, suiteWith, untilSaid } from './server-process.js';

const binaries = findBinaries();

export const describeWithPostgres = suiteWith(binaries !== undefined);

/** A PostgreSQL server of our own, in a temporary directory, which waits for the disk as in production. */
export class PostgresServer {
  private process: ChildProcess | undefined;
  private currentPort = 0;
  private databases = 0;

  private constructor(
    private readonly directory: string,
    /** Of the user of every URL. */
    readonly password: string,
  ) {}

  get port(): number {
    return this.currentPort;
  }

  /** Makes a cluster and starts it on a free port. */
  static async start(): Promise<PostgresServer> {
    const initdb = binary('initdb');
    const directory = await mkdtemp(join(tmpdir(), 'postgres-'));
    const password = `canary-${randomBytes(12).toString('hex')}`;
    const passwordFile = join(directory, 'password');
    await writeFile(passwordFile, password);
    for (const path of [directory, passwordFile]) await giveAway(path);
    const options = '--username=service --auth=scram-sha-256 --encoding=UTF8 --no-locale --no-sync'.split(
      ' ',
    );
    const places = [`--pgdata=${join(directory, 'data')}`, `--pwfile=${passwordFile}`];
    execFileSync(initdb, [...places, ...options], {
      ...owner(),
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const server = new PostgresServer(directory, password);
    await server.run();
    return server;
  }

  /** Makes an empty database and gives its URL. */
  async createDatabase(): Promise<string> {
    const name = `test_${(this.databases += 1)}`;
    await this.ask(`create database ${name}`);
    return this.urlOf(name);
  }

  /** The URL of a database, which may not exist. */
  urlOf(database: string, password = this.password, port = this.port): string {
    return `postgres://service:${password}@127.0.0.1:${port}/${database}`;
  }

  /** Queries the server directly, not through a service. */
  async ask(sql: string, databaseUrl = this.urlOf('postgres')): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Kills all processes of the server with SIGKILL, at once. */
  async kill(pids: readonly number[]): Promise<void> {
    const ended = this.process && once(this.process, 'close');
    this.process?.kill('SIGKILL');
    for (const pid of pids) killIfThere(pid);
    await ended;
  }

  /** The processes of the server that may be at work for a database. */
  async workers(): Promise<number[]> {
    return (await this.ask('select pid from pg_stat_activity where pid <> pg_backend_pid()')).map(({ pid }) =>
      Number(pid),
    );
  }

  /**
   * Starts the server, later again at the same port. Tries more than once: another process may take the free
   * port before the server does, and a process of the killed server may be alive still.
   */
  async run(): Promise<void> {
    this.currentPort = await startOnPort(
      () => this.currentPort || freePort(),
      (port) => this.runOn(port),
    );
  }

  /** Ends the server without a checkpoint, as nothing is kept, and removes its files. */
  async stop(): Promise<void> {
    await endProcess(this.process, 'SIGQUIT');
    await rm(this.directory, { recursive: true, force: true });
  }

  private async runOn(port: number): Promise<void> {
    const settings = 'listen_addresses=127.0.0.1 unix_socket_directories= fsync=on synchronous_commit=on';
    const options = [`port=${port}`, ...settings.split(' ')].flatMap((setting) => ['-c', setting]);
    const server = spawn(binary('postgres'), ['-D', join(this.directory, 'data'), ...options], {
      ...owner(),
      cwd: this.directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.process = server;
    await untilSaid(server, server.stderr, 'ready to accept connections');
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** PostgreSQL refuses to run as root: the package brings a user for it. */
function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string): number =>
    Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function giveAway(path: string): Promise<void> {
  const { uid, gid } = owner();
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

function binary(name: string): string {
  if (binaries === undefined)
    throw new Error('The binaries of PostgreSQL are missing: install the package "postgresql".');
  return join(binaries, name);
}

/** The directory with the server's binaries: of Debian's package, the newest version, or one in PATH. */
function findBinaries(): string | undefined {
  const packaged = '/usr/lib/postgresql';
  const versions = existsSync(packaged)
    ? readdirSync(packaged).sort((one, other) => Number(other) - Number(one))
    : [];
  const directories = [
    ...versions.map((version) => join(packaged, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  return directories.find((directory) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(directory, name))),
  );
}
