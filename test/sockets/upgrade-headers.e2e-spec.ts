import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Module, type Type } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway, type OnGatewayInit, type WsResponse } from '@nestjs/websockets';
import {
  CurrentUser,
  fromBearer,
  fromCookie,
  fromHeader,
  SessionAuthModule,
  type TokenSource,
} from 'nestjs-session-auth';
import { sessionSockets, SessionSockets } from 'nestjs-session-auth/sockets';
import { platforms, startApp, type RunningApp } from '../support/platforms.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import {
  HandshakeDenied,
  SOCKET_IO,
  SOCKET_LIBRARIES,
  type Message,
  type Peer,
  type Presented,
} from './peers.js';

/** The headers that code of the application saw. */
const seen: object[] = [];

const ownSource: TokenSource = (_context, { headers }) => {
  seen.push({ ...headers });
  return undefined;
};

@WebSocketGateway()
class OpenGateway {
  @SubscribeMessage('me')
  me(@CurrentUser('username') username: string | undefined): WsResponse {
    return { event: 'answer', data: username };
  }
}

@WebSocketGateway()
class ProtectedGateway extends OpenGateway implements OnGatewayInit {
  constructor(readonly sockets: SessionSockets) {
    super();
  }

  afterInit(server: object): void {
    this.sockets.protect(server);
  }
}

@Module({})
class Root {}

const EVIL = 'https://evil.example';
const DENIED = /SESSION_REJECTED|SESSION_REQUIRED|CROSS_ORIGIN_DENIED/;

describe.each(platforms('Fastify'))('on %s', (_platform, platform) => {
  const peers: Peer[] = [];
  let own: ScriptedService;
  let app: RunningApp;

  /** Starts the application for all tests of a `describe`. */
  function application(gateway: Type, library: (typeof SOCKET_LIBRARIES)[number]): void {
    beforeAll(() => start(gateway, library));
    afterAll(async () => {
      await app.close();
      await own.close();
    });
  }

  async function start(gateway: Type, library: (typeof SOCKET_LIBRARIES)[number]): Promise<void> {
    own = await startScriptedService();
    own.signInAs({ username: 'ann' }, 'good');
    const token = [fromHeader('X-Auth-Token'), fromBearer(), ownSource, fromCookie('sid')];
    const options = { plugins: [sessionSockets], apiKey: 'key', timeoutMs: 30_000, token };
    const imports = [SessionAuthModule.forRoot({ ...options, baseUrl: own.url, protectAllRoutes: true })];
    app = await startApp(
      platform,
      { module: Root, imports, providers: [gateway] },
      { configure: (nest) => nest.useWebSocketAdapter(library[1](nest)) },
    );
  }
  beforeEach(() => {
    seen.length = 0;
    own.requests.length = 0;
  });
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.close();
  });

  /** The user whom the client is for the application, or the code of its denial. */
  async function who(
    connect: (url: string, presented: Presented) => Promise<Peer>,
    presented: Presented,
    data: unknown = {},
  ): Promise<string> {
    const connected = await connect(app.url, presented).catch((error: unknown) => error);
    if (connected instanceof HandshakeDenied) return connected.denial.code;
    const peer = connected as Peer;
    peers.push(peer);
    const [event, answer]: Message = await peer.ask('me', data);
    return event === 'answer' ? String(answer) : (answer as { code: string }).code;
  }

  const calls = (): unknown[] => own.requests.map(({ headers }) => headers['x-auth-token']);

  describe.each([
    ['a protected gateway', ProtectedGateway],
    ['a gateway without protect', OpenGateway],
  ])('headers of socket.io in %s', (_name, gateway) => {
    const connect = SOCKET_IO[2];
    application(gateway, SOCKET_IO);

    it.each<Record<string, unknown>>([
      { 'sec-fetch-site': 'same-origin' },
      { origin: EVIL, Origin: EVIL, host: 'evil.example', Host: 'evil.example' },
      {
        cookie: 'sid=good',
        headers: { cookie: 'sid=good', origin: 'http://evil.example', host: 'evil.example' },
      },
      {
        handshake: { headers: {} },
        rawHeaders: [],
        handshakeFields: { token: 'good' },
        request: { headers: { cookie: 'sid=good' } },
      },
      JSON.parse(
        '{ "__proto__": { "origin": "https://evil.example", "host": "evil.example", "token": "good" } }',
      ) as Record<string, unknown>,
    ])('are not those that a foreign page writes into auth or a message: %j [P24]', async (auth) => {
      expect(await who(connect, { headers: { cookie: 'sid=good', origin: EVIL }, auth }, auth)).toMatch(
        DENIED,
      );
      expect(
        await who(connect, { auth: { ...auth, cookie: 'sid=good' } }, { ...auth, cookie: 'sid=good' }),
      ).toMatch(DENIED);
      expect(calls()).toEqual([]);
      for (const headers of seen) expect(headers).not.toMatchObject({ host: 'evil.example' });
    });

    it('are those of a foreign page, whatever else they say [P24]', async () => {
      for (const site of ['same-origin', 'none', 'cross-site'])
        expect(
          await who(connect, { headers: { cookie: 'sid=good', origin: EVIL, 'sec-fetch-site': site } }),
        ).toBe('CROSS_ORIGIN_DENIED');
      expect(calls()).toEqual([]);
    });

    it.each([{ token: 'good' }, { 'X-Auth-Token': 'good', token: 'bad' }, { authorization: 'Bearer good' }])(
      'are joined by the token of a field: %j',
      async (auth) => {
        expect(await who(connect, { auth })).toBe('ann');
      },
    );

    it.each([
      { token: ['good'] },
      { 'x-auth-token': 'good', 'X-Auth-Token': 'good' },
      { token: { toString: 'good' } },
    ])('are not joined by a token that is no single text: %j', async (auth) => {
      expect(await who(connect, { auth })).toMatch(DENIED);
      expect(calls()).toEqual([]);
    });

    it('present their own token, which no field replaces [P24]', async () => {
      expect(
        await who(connect, {
          headers: { 'x-auth-token': 'bad' },
          auth: { 'x-auth-token': 'good', token: 'good' },
        }),
      ).toBe('SESSION_REJECTED');
    });
  });

  describe.each(SOCKET_LIBRARIES)('a message of %s', (...library) => {
    application(ProtectedGateway, library);

    it('says nothing about the headers of its socket [P24]', async () => {
      const headers = { 'x-auth-token': 'good' };
      const forged = {
        headers: { host: 'acme.example', 'x-auth-token': 'boss' },
        host: 'acme.example',
        token: 'boss',
      };
      expect(await who(library[2], { headers }, forged)).toBe('ann');
      expect(calls()).not.toContain('boss');
      expect(
        await who(library[2], { headers: { cookie: 'sid=good', origin: app.url } }, { origin: EVIL }),
      ).toBe('ann');
      expect(
        await who(library[2], { headers: { cookie: 'sid=good', origin: EVIL } }, { origin: app.url }),
      ).toBe('CROSS_ORIGIN_DENIED');
    });
  });
});
