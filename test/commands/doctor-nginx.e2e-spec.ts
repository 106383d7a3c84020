import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '../../libs/session-auth/src/commands/doctor/report.js';
import { runCommand } from '../../libs/session-auth/src/commands/run-command.js';
import { describeWithNginx, NginxServer } from '../support/nginx.js';
import { freePort } from '../support/server-process.js';
import { askGuard } from './ask-guard.js';
import { captureIo } from './captured-io.js';
import { API_KEY, OddService, USER } from './odd-service.js';

/** Paths of nginx: what the doctor must say, and what the guard then answers to a user and to a junk token. */
const PLACES: readonly (readonly [
  path: string,
  what: string,
  fails: readonly string[],
  warns: readonly string[],
  guard: readonly number[],
])[] = [
  ['/sessions', 'passes requests on', [], [], [200, 401]],
  ['/moved', 'redirects to the service', [], ['redirects'], [200, 401]],
  ['/nowhere', 'knows no such path', ['sign-in', 'session-service'], [], [503, 503]],
  ['/down', 'does not reach the service', ['session-service'], [], [503, 503]],
  ['/limited', 'limits the rate', ['rate-limit'], [], [503, 503]],
  ['/cached', 'caches replies of all users', ['ended-token'], ['wrong-key', 'no-key'], [503, 503]],
];

describeWithNginx('behind an nginx that', () => {
  let service: OddService;
  let nginx: NginxServer;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doctor-nginx-'));
    service = await OddService.start();
    const upstream = `proxy_pass ${service.url}/; proxy_http_version 1.1; proxy_set_header Connection "";`;
    nginx = await NginxServer.start({
      http: `limit_req_zone $server_port zone=one:1m rate=1r/m;\nproxy_cache_path ${folder} keys_zone=cache:1m;`,
      server: `
        location /sessions/ { ${upstream} }
        location /moved/ { rewrite ^/moved/(.*)$ /sessions/$1 permanent; }
        location /down/ { proxy_pass http://127.0.0.1:${await freePort()}/; }
        location /limited/ { limit_req zone=one; limit_req_status 429; ${upstream} }
        location /cached/ { proxy_cache cache; proxy_cache_valid 200 1m; proxy_cache_key $uri; ${upstream} }`,
    });
  });
  afterAll(async () => {
    await nginx.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(PLACES)('%s: %s', async (path, _what, fails, warns, guard) => {
    const io = captureIo({ SESSION_SERVICE_API_KEY: API_KEY, SESSION_SERVICE_PASSWORD: USER.password });
    const code = await runCommand(['doctor', '--json', '--url', `${nginx.url}${path}`, '--user', USER.username], io);
    const { checks, options } = JSON.parse(io.out()) as Report;
    const idsOf = (outcome: string): string[] => checks.filter((check) => check.outcome === outcome).map(({ id }) => id);
    expect({ code, fails: idsOf('fail') }).toEqual({ code: fails.length > 0 ? 1 : 0, fails });
    expect(idsOf('warn')).toEqual(expect.arrayContaining([...warns]));
    expect(await askGuard(options, service.issue())).toEqual(guard);
  });
});
