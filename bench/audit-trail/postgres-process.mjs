import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.mjs';

const PACKAGED = '/usr/lib/postgresql';

/**
 * A PostgreSQL server with the settings of production for durability: it waits for the disk at each commit.
 */
export class PostgresProcess {
  #directory;
  #port;
  #server;

  constructor(directory, port) {
    this.#directory = directory;
    this.#port = port;
  }

  static async start() {
    const directory = mkdtempSync(join(tmpdir(), 'audit-trail-'));
    const passwordFile = join(directory, 'password');
    writeFileSync(passwordFile, 'bench');
    for (const path of [directory, passwordFile]) if (owner()) chownSync(path, owner().uid, owner().gid);
    const options = [
      '--username=bench',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--no-locale',
      '--no-sync',
    ];
    execFileSync(binary('initdb'), [`--pgdata=${join(directory, 'data')}`, ...options], {
      ...owner(),
      cwd: directory,
      stdio: 'ignore',
    });
    const postgres = new PostgresProcess(directory, await freePort());
    await postgres.run();
    return postgres;
  }

  get url() {
    return `postgres://bench:bench@127.0.0.1:${this.#port}/postgres`;
  }

  /** Starts the server, later again at the same port. */
  async run() {
    const settings = [`port=${this.#port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
    const options = settings.flatMap((setting) => ['-c', setting]);
    const place = { ...owner(), cwd: this.#directory, stdio: ['ignore', 'ignore', 'pipe'] };
    this.#server = spawn(binary('postgres'), ['-D', join(this.#directory, 'data'), ...options], place);
    await new Promise((resolve, reject) => {
      this.#server.stderr.on(
        'data',
        (lines) => String(lines).includes('ready to accept connections') && resolve(),
      );
      this.#server.once('close', () => reject(new Error('PostgreSQL ended')));
    });
  }

  /** Ends the server as a shutdown of its machine does: connections break, nothing committed is lost. */
  async halt() {
    const closed = once(this.#server, 'close');
    this.#server.kill('SIGINT');
    await closed;
  }

  async stop() {
    await this.halt();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  version() {
    return execFileSync(binary('postgres'), ['--version'], { encoding: 'utf8' }).trim();
  }
}

/** PostgreSQL refuses to run as root. */
function owner() {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function binary(name) {
  const versions = existsSync(PACKAGED)
    ? readdirSync(PACKAGED).sort((one, other) => Number(other) - Number(one))
    : [];
  const directories = [
    ...versions.map((version) => join(PACKAGED, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  const found = directories.find((directory) => existsSync(join(directory, name)));
  if (!found) throw new Error('The binaries of PostgreSQL are missing: install the package "postgresql".');
  return join(found, name);
}
