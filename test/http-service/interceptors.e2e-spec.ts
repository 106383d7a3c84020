import { describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import type { AxiosInstance } from 'axios';
import { SessionAuthService, SessionHttpService, type SessionAuthHttpOptions } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { bytes, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed, type Testbed } from '../support/testbed.js';

const ANN = { username: 'ann', auth_token: 'token' };
const RECORD = JSON.stringify(ANN);
const OPERATIONS = ['user_details', 'sign_in', 'sign_out'] as const;
/** For calls that get no answer. */
const SHORT_MS = 500;

/** Starts an application whose calls pass axios, and returns what makes each of its three calls once. */
async function seam(bed: Testbed, timeoutMs = 60_000, http: SessionAuthHttpOptions = {}) {
  const service = await bed.service();
  const answerAll = (script: Script): void => OPERATIONS.forEach((name) => service.on(name, script));
  answerAll(json(ANN));
  const times = { timeoutMs, signInTimeoutMs: timeoutMs, signOutTimeoutMs: timeoutMs };
  const options = { ...times, retry: false, breaker: false, http } as const;
  const app = await bed.sample({ baseUrl: service.url, options });
  const sessions = app.app.get(SessionAuthService);
  const statusOf = (call: Promise<unknown>): Promise<number> =>
    call.then(
      () => 200,
      (error: unknown) => (error as { statusCode: number }).statusCode,
    );
  const callAll = async (): Promise<number[]> => [
    (await app.get('/me', 'token', { 'x-auth-iv': 'iv-1' })).status,
    await statusOf(sessions.signIn({ username: 'ann', password: 'x' }, { authIv: 'iv-1' })),
    await statusOf(sessions.signOut('token', { authIv: 'iv-1' })),
  ];
  const axios = async (): Promise<AxiosInstance> => (await app.app.resolve(SessionHttpService)).axiosRef;
  return { service, answerAll, app, callAll, axios };
}

const never = (): Promise<never> => new Promise<never>(() => undefined);
const BROKEN: [string, (axios: AxiosInstance) => unknown][] = [
  [
    'throws before the call',
    ({ interceptors }) =>
      interceptors.request.use(() => {
        throw new Error('the interceptor broke: application-key');
      }),
  ],
  ['never settles before the call', ({ interceptors }) => interceptors.request.use(never)],
  ['never settles after the call', ({ interceptors }) => interceptors.response.use(never)],
];

describe.each(platforms('Express'))('an interceptor on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([
    ['before the first call', 0],
    ['after calls were made', 2],
  ])('that is added %s runs for all three calls, and may change url and headers', async (_when, rounds) => {
    const { service, axios, callAll } = await seam(bed);
    for (let round = 0; round < rounds; round += 1) expect(await callAll()).toEqual([200, 200, 200]);
    service.requests.length = 0;
    (await axios()).interceptors.request.use((config) => {
      config.url = `${config.url ?? ''}?tenant=7`;
      config.headers.set('X-API-KEY', 'rotated-key');
      config.headers.delete('X-AUTH-IV');
      return config;
    });

    expect(await callAll()).toEqual([200, 200, 200]);
    expect(service.requests.map(({ method, path, headers }) => [method, path, headers['x-api-key']])).toEqual(
      [
        ['GET', '/authentication/user_details?tenant=7', 'rotated-key'],
        ['POST', '/authentication?tenant=7', 'rotated-key'],
        ['DELETE', '/authentication?tenant=7', 'rotated-key'],
      ],
    );
    expect(service.requests.filter(({ headers }) => 'x-auth-iv' in headers)).toEqual([]);
  });

  it.each(BROKEN)('that %s makes all three calls 503, and is not in the denial', async (_case, breakIt) => {
    const { app, axios, callAll } = await seam(bed, SHORT_MS);
    breakIt(await axios());

    expect(await callAll()).toEqual([503, 503, 503]);
    const denial = await app.get('/me', 'token');
    expect(Number(denial.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await denial.text()).not.toMatch(/interceptor/);
  });
});

const LIMITED: [string, (axios: AxiosInstance) => void][] = [
  ['an agent on axiosRef', ({ defaults }) => void (defaults.httpAgent = new Agent({ keepAlive: true }))],
  [
    'an interceptor that asks for more than is allowed',
    ({ interceptors }) =>
      void interceptors.request.use((config) =>
        Object.assign(config, { maxRedirects: 5, maxContentLength: -1, decompress: true, timeout: 0 }),
      ),
  ],
];

const endless: Script = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (!response.destroyed && response.write(' '.repeat(16_384)));
  };
  response.on('drain', more);
  more();
};

describe.each(platforms('Express'))('with %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(LIMITED)('and %s, the limits of a body hold, and no redirect is followed', async (_what, take) => {
    const { axios, answerAll, callAll } = await seam(bed, 60_000, { maxResponseBytes: 200 });
    take(await axios());
    const answers = (script: Script): Promise<number[]> => (answerAll(script), callAll());
    const ofLength = (length: number): Script =>
      reply(200, RECORD.padEnd(length), { 'content-type': 'application/json' });
    expect(await answers(ofLength(200))).toEqual([200, 200, 200]);
    for (const script of [ofLength(201), endless])
      expect((await answers(script)).slice(0, 2)).toEqual([503, 503]);
    const target = await bed.serviceThat(
      bytes('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Connection: close', '', RECORD),
    );
    const location = `${target.url}/authentication/user_details`;
    expect(await answers(reply(307, '', { location }))).toEqual([503, 503, 503]);
    expect(target.connections()).toBe(0);
  });

  it.each(LIMITED)(
    'and %s, calls without an answer are 503 in time, and leave no connection',
    async (_what, take) => {
      const { axios, service, answerAll, callAll } = await seam(bed, SHORT_MS);
      take(await axios());
      answerAll(silence);
      expect(await callAll()).toEqual([503, 503, 503]);
      expect(service.requests).toHaveLength(3);
      await service.idle();
    },
  );
});
