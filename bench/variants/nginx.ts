import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** nginx in front of an unguarded application. */
export interface RunningNginx {
  readonly url: string;
  /** Microseconds of processor time that it has used. */
  readonly cpuUs: () => number;
  stop(): Promise<void>;
}

/** Where nginx is, if it is installed. */
export function findNginx(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'nginx')).find((file) => existsSync(file));
}

/** Its version, if it is installed. */
export async function nginxVersion(): Promise<string | undefined> {
  const program = findNginx();
  if (program === undefined) return undefined;
  const { stderr } = await promisify(execFile)(program, ['-v']);
  return /nginx\/(\S+)/.exec(stderr)?.[1];
}

/**
 * Starts nginx with `auth_request` and a cache of its answers in front of `/openings`, under `/unchecked` the
 * same route without a check.
 */
export async function startNginx(program: string, appUrl: string, serviceUrl: string): Promise<RunningNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-nginx-'));
  const port = await freePort();
  await writeFile(
    join(folder, 'nginx.conf'),
    configuration(folder, port, new URL(appUrl).host, new URL(serviceUrl).host),
  );
  const nginx = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const kill = (): void => {
    nginx.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (nginx.exitCode === null && nginx.signalCode === null) {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  await untilListening(port).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url: `http://127.0.0.1:${port}`, cpuUs: () => cpuUsOf(nginx.pid), stop };
}

/** Linux counts in ticks of 10 ms. */
const TICK_US = 10_000;

/** Returns the processor time of another process, in user and in system mode. */
function cpuUsOf(pid: number | undefined): number {
  const [, fields = ''] = /\) (.*)$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user = '', system = ''] = fields.split(' ').slice(11);
  return (Number(user) + Number(system)) * TICK_US;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
    await delay(100);
  }
  throw new Error('nginx does not listen');
}

function configuration(folder: string, port: number, app: string, service: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `
daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit; worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off; ${temporary.join(' ')}
  keepalive_requests 1000000000; keepalive_timeout 600s;
  proxy_cache_path ${folder}/cache keys_zone=sessions:10m inactive=10m;
  proxy_http_version 1.1; proxy_set_header Connection "";
  upstream app { server ${app}; keepalive 128; keepalive_requests 1000000000; }
  upstream service { server ${service}; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=8192;
    location / { proxy_pass http://app; }
    location = /unchecked { proxy_pass http://app/openings; }
    location = /openings { auth_request /check; proxy_pass http://app; }
    location = /check {
      internal;
      proxy_pass http://service/authentication/user_details;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-API-KEY application-key;
      proxy_set_header Accept application/json;
      proxy_cache sessions; proxy_cache_key $http_x_auth_token; proxy_cache_valid 200 300s;
    }
  }
}
`;
}
