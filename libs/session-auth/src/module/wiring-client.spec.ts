import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  Inject,
  Injectable,
  Logger,
  Module,
  type DynamicModule,
  type INestApplicationContext,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionHttpService } from '../client/session-http.service.js';
import type { SessionAuthOptions } from './options/options.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SessionAuthModule } from './session-auth.module.js';
import { PARTS, type AuthorityParts } from './wiring.js';

@Module({})
class Root {}

@Injectable()
class Consumer {
  constructor(
    readonly service: SessionAuthService,
    @Inject(SessionHttpService) readonly http: SessionHttpService,
  ) {}
}

let server: Server;
let answer: RequestListener;
let origin: string;
let context: INestApplicationContext | undefined;
let lines: string[];

beforeEach(async () => {
  answer = (_request, response) => void response.end('{"username":"ann"}');
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  lines = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(String(line)));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await context?.close();
  context = undefined;
  server.closeAllConnections();
  server.close();
});

/** Starts an application, and returns the parts of its authority. */
async function start(options: Partial<SessionAuthOptions> = {}) {
  const registration = SessionAuthModule.forRoot({
    baseUrl: `http://${origin}`,
    apiKey: 'key',
    retry: false,
    breaker: false,
    ...options,
  });
  const root: DynamicModule = { module: Root, imports: [registration], providers: [Consumer] };
  context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  const { service, http } = context.get(Consumer);
  const { requests, deadlines } = context.get<AuthorityParts>(PARTS, { strict: false });
  return { service, http, requests, deadlines };
}

/** Answers with a record and headers. */
const answerWith = (record: object, headers: Record<string, string> = {}, status = 200): void => {
  answer = (_request, response) => void response.writeHead(status, headers).end(JSON.stringify(record));
};

describe('the client of an authority', () => {
  it('asks the session service, with the options of the authority', async () => {
    const paths: unknown[] = [];
    answer = ({ url, headers }, response) => {
      paths.push([url, headers['x-api-key'], headers['x-auth-token']]);
      response.end('{"username":"ann"}');
    };
    const { service } = await start({ baseUrl: `http://${origin}/api` });
    expect(await service.verify('token')).toMatchObject({ username: 'ann' });
    expect(paths).toEqual([['/api/authentication/user_details', 'key', 'token']]);
  });

  it('reads replies up to http.maxResponseBytes', async () => {
    const { service } = await start({ http: { maxResponseBytes: 10 } });
    await expect(service.verify('token')).rejects.toMatchObject({ reason: 'malformed' });
  });

  it('limits tokens to http.maxTokenLength, of a caller and of a sign-in', async () => {
    const { service } = await start({ http: { maxTokenLength: 5 } });
    await expect(service.verify('123456')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    answerWith({ username: 'ann', auth_token: '123456' });
    await expect(service.signIn({ username: 'ann', password: 'secret' })).rejects.toMatchObject({
      reason: 'malformed',
    });
  });

  it('sends its requests through SessionHttpService, once the application uses it', async () => {
    const { service, http } = await start();
    const seen: unknown[] = [];
    http.axiosRef.interceptors.request.use((config) => (seen.push(config.method), config));
    await service.verify('token');
    expect(seen).toEqual(['get']);
  });

  it('logs a failure of TLS', async () => {
    const { service } = await start({ baseUrl: `https://${origin}` });
    await expect(service.verify('token')).rejects.toMatchObject({ reason: 'unreachable' });
    expect(lines).toEqual([expect.stringMatching(/^TLS failure: .* failed with [A-Z0-9_]+\./)]);
  });

  it('logs a reply that the interface does not list', async () => {
    answer = (_request, response) => void response.writeHead(404).end('not here');
    const { service } = await start();
    await expect(service.verify('token')).rejects.toMatchObject({ reason: 'unexpected_status' });
    expect(lines).toEqual([
      expect.stringMatching(
        /^unexpected reply: the session service answered 404 with a body to checks, which get 503\. /,
      ),
    ]);
  });

  it('logs that the service forbids caching', async () => {
    answerWith({ username: 'ann' }, { 'cache-control': 'no-store' });
    const { service } = await start({ cache: { ttlMs: 60_000 } });
    await service.verify('token');
    expect([lines, service.countCached()]).toEqual([[expect.stringMatching(/^caching forbidden: /)], 0]);
  });

  it('lets calls in flight go on for timeoutMs when the application shuts down', async () => {
    const { deadlines } = await start({ timeoutMs: 7_000 });
    jest.useFakeTimers();
    const running = deadlines.start(60_000);
    const closing = deadlines.close();
    jest.advanceTimersByTime(6_999);
    expect(running.ended).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    await closing;
    expect(running.ended).toBe('shutting_down');
    jest.useRealTimers();
  });
});

describe('a reply with another token than was presented', () => {
  const OTHER = { username: 'ann', auth_token: 'other' };

  it.each([undefined, 'deny'] as const)(
    'is no answer, and the connections are replaced: tokenEcho %p',
    async (tokenEcho) => {
      answerWith(OTHER);
      const { service, requests } = await start({ ...(tokenEcho && { tokenEcho }) });
      const renew = jest.spyOn(requests, 'renew');
      await expect(service.verify('token')).rejects.toMatchObject({ reason: 'malformed' });
      expect([renew.mock.calls.length, lines]).toEqual([1, [expect.stringMatching(/^token mismatch: /)]]);
    },
  );

  it('is one with tokenEcho: warn, which logs it', async () => {
    answerWith(OTHER);
    const { service, requests } = await start({ tokenEcho: 'warn' });
    const renew = jest.spyOn(requests, 'renew');
    expect(await service.verify('token')).toMatchObject({ username: 'ann' });
    expect([renew.mock.calls, lines]).toEqual([[], [expect.stringMatching(/^token mismatch: /)]]);
  });

  it('is one with tokenEcho: ignore', async () => {
    answerWith(OTHER);
    const { service } = await start({ tokenEcho: 'ignore' });
    expect([await service.verify('token'), lines]).toEqual([
      expect.objectContaining({ username: 'ann' }),
      [],
    ]);
  });
});
