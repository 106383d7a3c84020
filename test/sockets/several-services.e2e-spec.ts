import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import {
  SubscribeMessage,
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayInit,
  type WsResponse,
} from '@nestjs/websockets';
import {
  CurrentUser,
  InjectSessionAuth,
  SessionAuthModule,
  SessionAuthority,
  SessionAuthService,
  type AuthorityResolver,
} from 'nestjs-session-auth';
import { sessionSockets, SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import { always } from '../support/always.js';
import type { RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { HandshakeDenied, SOCKET_LIBRARIES, type Peer } from './peers.js';

const WATCH = { recheckMs: 3_600_000 };

/** The users that `handleConnection` found. */
const connected: (string | undefined)[] = [];

abstract class Feed implements OnGatewayInit, OnGatewayConnection {
  abstract readonly sockets: SessionSockets;

  afterInit(server: object): void {
    this.sockets.protect(server, WATCH);
  }

  handleConnection(client: SocketClient): void {
    connected.push(this.sockets.userOf(client)?.username);
  }
}

@SessionAuthority('partners')
@WebSocketGateway()
class PartnersGateway extends Feed {
  constructor(@InjectSessionAuth('partners', SessionSockets) readonly sockets: SessionSockets) {
    super();
  }

  @SubscribeMessage('me')
  me(@CurrentUser('username') username: string | undefined): WsResponse {
    return { event: 'answer', data: username };
  }
}

@SessionAuthority('default')
@WebSocketGateway()
class TenantsGateway extends Feed {
  constructor(readonly sockets: SessionSockets) {
    super();
  }
}

@WebSocketGateway()
class OpenGateway extends Feed {
  constructor(readonly sockets: SessionSockets) {
    super();
  }

  @SubscribeMessage('me')
  @SessionAuthority('partners')
  me(@CurrentUser('username') username: string | undefined): WsResponse {
    return { event: 'answer', data: username };
  }
}

@Module({})
class Root {}

const byTenant: AuthorityResolver = (_context, { headers }) => String(headers['x-tenant']);

describe.each(SOCKET_LIBRARIES)('sockets of %s and several session services', (_name, adapter, connect) => {
  const bed = testbed();
  const peers: Peer[] = [];
  let own: ScriptedService;
  let partners: ScriptedService;

  beforeEach(async () => {
    connected.length = 0;
    [own, partners] = [await bed.service(), await bed.service()];
  });
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.close();
  });

  /** Both read the token from the same header, so that each token could reach either service. */
  async function started(gateway: Type, authority?: AuthorityResolver): Promise<RunningApp> {
    const plugins = [sessionSockets];
    const root: DynamicModule = {
      module: Root,
      imports: [
        SessionAuthModule.forRoot({
          baseUrl: own.url,
          apiKey: 'own-key',
          plugins,
          ...(authority && { authority }),
        }),
        SessionAuthModule.forRoot({
          name: 'partners',
          baseUrl: partners.url,
          apiKey: 'partner-key',
          plugins,
        }),
      ],
      providers: [gateway],
    };
    return bed.app(root, { configure: (nest) => void nest.useWebSocketAdapter(adapter(nest)) });
  }

  async function opened(app: RunningApp, token: string, headers: Record<string, string> = {}): Promise<Peer> {
    const peer = await connect(app.url, { headers: { 'x-auth-token': token, ...headers } });
    peers.push(peer);
    return peer;
  }

  const partnersOf = (app: RunningApp): SessionAuthService =>
    app.app.get(SessionAuthModule.getToken('partners'));

  it('are checked at the handshake, at each message and until their end by the one that the gateway names', async () => {
    const app = await started(PartnersGateway);
    const bob = partners.signInAs({ username: 'bob' });
    const peer = await opened(app, bob);

    expect(await peer.ask('me')).toEqual(['answer', 'bob']);
    await until('the connection', () => connected.length === 1);
    expect(connected).toEqual(['bob']);
    await partnersOf(app).signOut(bob);
    expect(await peer.ended()).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
    expect(own.requests).toEqual([]);
  });

  it('are denied with a session of another', async () => {
    const app = await started(PartnersGateway);

    const ann = own.signInAs({ username: 'ann' });
    await always(() => expect(opened(app, ann)).rejects.toThrow(HandshakeDenied));
    expect(connected).toEqual([]);
    expect(own.requests).toEqual([]);
  });

  it('are checked at the handshake and until their end by the one that the option authority selects', async () => {
    const app = await started(TenantsGateway, byTenant);
    const bob = partners.signInAs({ username: 'bob' });
    const peer = await opened(app, bob, { 'x-tenant': 'partners' });

    await until('the connection', () => connected.length === 1);
    expect(connected).toEqual(['bob']);
    expect(own.requests).toEqual([]);
    const ann = own.signInAs({ username: 'ann' });
    const other = await opened(app, ann, { 'x-tenant': 'default' });
    await until('the connection', () => connected.length === 2);
    await partnersOf(app).forgetUser('bob');
    expect(await peer.ended()).toMatchObject({ statusCode: 401 });
    expect([connected, other.isOpen()]).toEqual([['bob', 'ann'], true]);
    expect(partners.requests.map(({ headers }) => headers['x-auth-token'])).not.toContain(ann);
  });

  it('are denied, without a call, if the option authority selects none', async () => {
    const app = await started(TenantsGateway, byTenant);

    for (const tenant of ['unknown', 'constructor'])
      await always(() =>
        expect(opened(app, 'some-token', { 'x-tenant': tenant })).rejects.toMatchObject({
          denial: { statusCode: 401 },
        }),
      );
    expect([...own.requests, ...partners.requests]).toEqual([]);
  });

  it('have messages that another checks, if their handler names it', async () => {
    const app = await started(OpenGateway);
    own.signInAs({ username: 'ann' }, 'shared-token');
    partners.signInAs({ username: 'bob' }, 'shared-token');
    const peer = await opened(app, 'shared-token');

    await until('the connection', () => connected.length === 1);
    expect(connected).toEqual(['ann']);
    expect(await peer.ask('me')).toEqual(['answer', 'bob']);
  });
});
