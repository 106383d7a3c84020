import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { startSessionService, type ScriptedSessionService } from 'nestjs-session-auth/testing';
import { json, type Script } from '../support/scripted-service.js';
import { platforms } from '../support/platforms.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';
import { TRANSPORTS } from '../support/transports.js';

const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
const BYPASS_VARIABLES = ['NO_PROXY', 'no_proxy'];

/** Answers, and then ends the connection without having said so. */
const answerAndEnd: Script = (request, response, socket) => {
  response.on('finish', () => socket.destroySoon());
  json(ANN)(request, response, socket);
};

describe.each(platforms('Express'))('connections on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a service that refuses connections becomes 503 [D01]',
    async (trial) => {
      await trial.service.close();
      expect(await trial.status()).toBe(503);
      expect(trial.calls()).toBe(0);
    },
    {
      recover: async (trial) => {
        const back = trial.keep(await startSessionService({ port: Number(new URL(trial.service.url).port) }));
        back.on('user_details', json(ANN));
      },
    },
  );

  row(
    'a service whose host does not resolve becomes 503, before the deadline [D02]',
    async (trial) => expect(await trial.status()).toBe(503),
    { baseUrl: () => 'http://sessions.invalid', recover: false },
  );

  row(
    'connections that the service closes between requests fail no request: 200 of 200 get 200 [D06]',
    async (trial) => {
      trial.service.on('user_details', answerAndEnd);
      expect(await trial.flood(200, (index) => ({ token: `${TOKEN}-${index}` }), 1)).toEqual({ 200: 200 });
    },
  );
});

describe.each(platforms('Express'))('proxies that the environment names on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const before = { ...process.env };
  let trap: ScriptedSessionService;

  beforeEach(async () => {
    trap = await startSessionService();
    for (const name of PROXY_VARIABLES) process.env[name] = trap.url;
    for (const name of BYPASS_VARIABLES) Reflect.deleteProperty(process.env, name);
  });
  afterEach(async () => {
    for (const name of [...PROXY_VARIABLES, ...BYPASS_VARIABLES]) {
      if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = before[name];
    }
    await trap.close();
  });

  row(
    'HTTP_PROXY, HTTPS_PROXY and ALL_PROXY are not used: the proxy gets no connection [D07]',
    async (trial) => {
      trial.service.on('user_details', json(ANN));
      for (const [, http] of TRANSPORTS) {
        const { app, url } = await trial.keepApp({ http: http() });
        const before = trial.service.requests.length;
        expect(await trial.status({ at: url })).toBe(200);
        const sessions = app.get(SessionAuthService);
        await sessions.signOut(TOKEN);
        await trial.thrownBy(sessions.signIn({ username: 'ann', password: 'x' }));
        expect([trial.service.requests.length - before, trap.connections()]).toEqual([3, 0]);
      }
    },
  );

  row('a proxy that the options name is used, for every operation [D07]', async (trial) => {
    const { hostname, port } = new URL(trap.url);
    const auth = { username: 'app', password: 'proxy-password' };
    const http = { proxy: { host: hostname, port: Number(port), auth } };
    const { app, url } = await trial.keepApp({ http }, 'http://sessions.example.com');
    trap.on('user_details', json(ANN));

    expect(await trial.status({ at: url })).toBe(200);
    const sessions = app.get(SessionAuthService);
    await trial.thrownBy(sessions.signIn({ username: 'ann', password: 'x' }));
    await trial.thrownBy(sessions.signOut(TOKEN));
    const credentials = `Basic ${Buffer.from('app:proxy-password').toString('base64')}`;
    expect(
      trap.requests.map(({ method, path, headers }) => [method, path, headers['proxy-authorization']]),
    ).toEqual([
      ['GET', 'http://sessions.example.com/authentication/user_details', credentials],
      ['POST', 'http://sessions.example.com/authentication', credentials],
      ['DELETE', 'http://sessions.example.com/authentication', credentials],
    ]);
  });
});
