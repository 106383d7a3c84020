import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Catch, UseFilters, UseGuards, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { SubscribeMessage, WebSocketGateway, type OnGatewayInit } from '@nestjs/websockets';
import { Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { sessionSockets, SessionSockets } from 'nestjs-session-auth/sockets';
import { io, type Socket } from 'socket.io-client';
import { always } from '../support/always.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

/** A client without this would wait forever. */
const PATIENCE_MS = 10_000;

/** Whether the gateway protects its server. */
const plan = { isProtected: false };

/** Acknowledges in its own form, as applications do that had to do it themselves. */
@Catch()
class OwnFilter implements ExceptionFilter {
  catch(_exception: unknown, host: ArgumentsHost): void {
    host.getArgByIndex<(answer: unknown) => void>(2)({ own: 'form' });
  }
}

@WebSocketGateway()
@UseGuards(SessionAuthGuard)
class AcknowledgingGateway implements OnGatewayInit {
  constructor(private readonly sockets: SessionSockets) {}

  afterInit(server: object): void {
    if (plan.isProtected) this.sockets.protect(server);
  }

  @SubscribeMessage('me') me(): string {
    return 'me';
  }

  @SubscribeMessage('managers') @Roles('hiring_manager') managers(): string {
    return 'secret';
  }

  @SubscribeMessage('own-filter') @UseFilters(OwnFilter) ownFilter(): string {
    return 'secret';
  }
}

describe('an acknowledgement of socket.io', () => {
  const bed = testbed();
  let service: ScriptedService;
  let socket: Socket;
  let exceptions: unknown[];
  beforeEach(async () => {
    [plan.isProtected, exceptions] = [false, []];
    service = await bed.service();
  });
  afterEach(() => void socket.disconnect());

  const connect = async (token: string): Promise<void> => {
    const options = { plugins: [sessionSockets] };
    const { url } = await bed.sample(
      { baseUrl: service.url, options, providers: [AcknowledgingGateway], controllers: [] },
      { configure: (nest) => void nest.useWebSocketAdapter(new IoAdapter(nest)) },
    );
    socket = io(url, { auth: { token }, reconnection: false, transports: ['websocket'] });
    socket.on('exception', (exception) => exceptions.push(exception));
    await new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(undefined)).once('connect_error', reject);
    });
  };
  const ask = (event: string, ...payload: unknown[]): Promise<unknown> =>
    socket.timeout(PATIENCE_MS).emitWithAck(event, ...payload);
  const denial = (statusCode: number, code: string) => ({
    status: 'error',
    statusCode,
    code,
    message: expect.any(String),
  });

  it.each([
    ['a refused token', 'bad', 'me', 401, 'SESSION_REJECTED'],
    ['a user of another role', 'good', 'managers', 403, 'ACCESS_DENIED'],
  ])(
    'carries the denial of a message with %s, which the client also gets as an exception',
    async (_case, token, event, status, code) => {
      service.signInAs({ role: 'new_hire' }, 'good');
      await connect(token);

      expect(await always(() => ask(event, { some: 'payload' }))).toEqual(denial(status, code));
      expect(await ask(event)).toEqual(denial(status, code));
      expect(exceptions).toEqual(Array(11).fill(denial(status, code)));
    },
  );

  it('comes from the filter of the application, if that acknowledges', async () => {
    await connect('bad');

    expect(await ask('own-filter')).toEqual({ own: 'form' });
  });

  it('comes before a watched socket is closed because its session has ended', async () => {
    plan.isProtected = true;
    await connect(service.signInAs({}, 'good'));
    service.revoke('good');

    expect(await ask('me')).toEqual(denial(401, 'SESSION_REJECTED'));
  });
});
