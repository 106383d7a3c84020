import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import {
  SubscribeMessage,
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayInit,
} from '@nestjs/websockets';
import { hold, json, silence } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { WS } from './peers.js';
import { Feed, FeedGateway } from './feed.gateway.js';
import { attemptWs } from './socket-attempts.js';
import { socketTrial } from './socket-trial.js';

/** A text frame of a client, masked with zeros. */
const frame = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
const upgradeLines = (token: string): string =>
  [
    'GET / HTTP/1.1',
    'Host: 127.0.0.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `X-Auth-Token: ${token}`,
    '\r\n',
  ].join('\r\n');

/** Asked by ws before the guard. */
const ownAnswers: { accepts: boolean } = { accepts: true };

@WebSocketGateway({
  path: '/own',
  verifyClient: (_info: object, answer: (accepted: boolean, status?: number) => void) =>
    setImmediate(() => answer(ownAnswers.accepts, 418)),
})
class OwnVerifierGateway implements OnGatewayInit, OnGatewayConnection {
  constructor(
    readonly sockets: SessionSockets,
    readonly feed: Feed,
  ) {}

  afterInit(server: object): void {
    this.sockets.protect(server);
  }

  handleConnection(client: SocketClient): void {
    this.feed.connected.push(this.sockets.userOf(client)?.username);
  }

  @SubscribeMessage('me')
  me(): string {
    return 'me';
  }
}

describe('handshakes of ws', () => {
  const trial = socketTrial(WS);

  async function rawSocket(...sent: (string | Buffer)[]): Promise<{ socket: Socket; text: () => string }> {
    const chunks: Buffer[] = [];
    const { hostname, port } = new URL(trial.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(Buffer.concat(sent.map((part) => Buffer.from(part as string))));
    return { socket, text: () => Buffer.concat(chunks).toString('latin1') };
  }

  it('frames that follow a denied handshake at once reach nothing [P03]', async () => {
    await trial.start();
    const message = frame(JSON.stringify({ event: 'public' }));
    const { socket, text } = await rawSocket(upgradeLines('junk'), message, message);
    await once(socket, 'close');

    expect(text()).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(text()).not.toContain('answer');
    expect(trial.feed.connected).toEqual([]);
  });

  it('frames that follow a handshake at once are handled when it is accepted [P03]', async () => {
    await trial.start();
    const held = hold(json({ username: 'ann' }));
    trial.service.on('user_details', held.script);
    const { socket, text } = await rawSocket(
      upgradeLines('some-token'),
      frame(JSON.stringify({ event: 'me' })),
    );
    await held.arrived;
    expect(text()).toBe('');
    trial.service.on('user_details', json({ username: 'ann' }));
    held.release();

    await until('the answer', () => text().includes('"username":"ann"'));
    expect(trial.feed.connected).toEqual(['ann']);
    socket.destroy();
    await trial.empty();
  });

  it('a client that ends its side while its token is checked leaves nothing behind [P03]', async () => {
    await trial.start({ timeoutMs: 3_000 });
    trial.service.on('user_details', silence);
    const { socket } = await rawSocket(upgradeLines('some-token'));
    await until('the check', () => trial.counts().waiting === 1);
    socket.end();

    await trial.empty();
    await until('the end of the connection', () => socket.destroyed);
    expect(trial.feed.connected).toEqual([]);
  });

  it('malformed upgrades open nothing and break nothing [P03]', async () => {
    await trial.start();
    const malformed = [
      upgradeLines('junk').replace('HTTP/1.1', 'HTTP/1.0'),
      upgradeLines('junk').replace('GET /', 'POST /'),
      upgradeLines('junk').replace('GET /', 'GET //['),
      upgradeLines('junk').replace('GET /', 'GET /no-gateway'),
      upgradeLines('junk').replace('Host: 127.0.0.1\r\n', ''),
      upgradeLines('junk').replace('Version: 13', 'Version: 1'),
      upgradeLines('junk').replace(/Sec-WebSocket-Key: .*\r\n/, ''),
      upgradeLines('junk\r\nX-Auth-Token: junk'),
      upgradeLines('junk').replace('Upgrade: websocket', 'Upgrade: h2c'),
    ];
    for (const lines of malformed) {
      const { socket, text } = await rawSocket(lines);
      await once(socket, 'close');
      expect(text()).not.toContain(' 101 ');
    }

    expect(trial.feed.connected).toEqual([]);
    expect((await trial.attempt(trial.service.signInAs({}))).opened).toBe(true);
  });

  it('verifyClient of the application and the guard must both accept, each gateway of a port for itself [P03]', async () => {
    await trial.start({}, [FeedGateway, OwnVerifierGateway]);
    const token = trial.service.signInAs({});
    const statusAt = async (path: string, presented: string): Promise<number | undefined> => {
      const attempt = await attemptWs(`${trial.url}${path}`, presented);
      attempt.close();
      return attempt.status;
    };

    ownAnswers.accepts = true;
    expect(await statusAt('/own', token)).toBeUndefined();
    expect(await statusAt('/own', 'junk')).toBe(401);
    expect(trial.feed.connected).toEqual(['ann']);
    const asked = trial.service.callsTo('user_details');
    ownAnswers.accepts = false;
    expect(await statusAt('/own', token)).toBe(418);
    expect(trial.service.callsTo('user_details')).toBe(asked);
    expect(await statusAt('/', 'junk')).toBe(401);
  });
});
