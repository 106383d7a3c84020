import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Catch, UseFilters, UseGuards, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { Ack, SubscribeMessage, WebSocketGateway, type OnGatewayInit } from '@nestjs/websockets';
import { CurrentUser, Public, Roles, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { SessionAuthErrorFilter } from 'nestjs-session-auth/errors';
import { sessionSockets, SessionSockets } from 'nestjs-session-auth/sockets';
import { io, type Socket } from 'socket.io-client';
import type { ScriptedService } from '../support/scripted-service.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

/** A client without this would wait forever. */
const PATIENCE_MS = 10_000;

/** Whether the gateway protects its server. */
const plan = { isProtected: false };

/** Acknowledges in its own form, as applications do that had to do it themselves. */
@Catch()
class OwnFilter implements ExceptionFilter {
  catch(_exception: unknown, host: ArgumentsHost): void {
    const acknowledge = host.getArgByIndex<(answer: unknown) => void>(2);
    acknowledge({ own: 'form' });
  }
}

@WebSocketGateway()
@UseGuards(SessionAuthGuard)
class AcknowledgingGateway implements OnGatewayInit {
  constructor(
    private readonly sockets: SessionSockets,
    private readonly sessions: SessionAuthService,
  ) {}

  afterInit(server: object): void {
    if (plan.isProtected) this.sockets.protect(server);
  }

  @SubscribeMessage('me')
  me(@CurrentUser('username') username: string | undefined): string | undefined {
    return username;
  }

  @SubscribeMessage('managers')
  @Roles('hiring_manager')
  managers(): string {
    return 'secret';
  }

  @SubscribeMessage('by-hand')
  byHand(@Ack() acknowledge: (answer: unknown) => void): void {
    acknowledge('by hand');
  }

  @SubscribeMessage('own-filter')
  @UseFilters(OwnFilter)
  ownFilter(): string {
    return 'secret';
  }

  @SubscribeMessage('sign-out')
  @Public()
  @UseFilters(SessionAuthErrorFilter)
  async signOut(): Promise<string> {
    await this.sessions.signOut('some-token');
    return 'bye';
  }
}

describe('an acknowledgement of socket.io', () => {
  const bed = testbed();
  let service: ScriptedService;
  let socket: Socket;
  let exceptions: unknown[];
  beforeEach(async () => {
    plan.isProtected = false;
    service = await bed.service();
  });
  afterEach(() => void socket.disconnect());

  const connect = async (token?: string): Promise<void> => {
    const sample = {
      baseUrl: service.url,
      options: { plugins: [sessionSockets] },
      providers: [AcknowledgingGateway],
      controllers: [],
    };
    const { url } = await bed.sample(sample, {
      configure: (nest) => void nest.useWebSocketAdapter(new IoAdapter(nest)),
    });
    socket = io(url, {
      auth: token === undefined ? {} : { token },
      reconnection: false,
      transports: ['websocket'],
    });
    exceptions = [];
    socket.on('exception', (exception) => exceptions.push(exception));
    await new Promise(
      (resolve, reject) =>
        void socket.once('connect', () => resolve(undefined)).once('connect_error', reject),
    );
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
    ['no token', undefined, 'me', 401, 'SESSION_REQUIRED'],
    ['a refused token', 'bad', 'me', 401, 'SESSION_REJECTED'],
    ['a user of another role', 'good', 'managers', 403, 'ACCESS_DENIED'],
    ['a refused token, where the handler acknowledges itself', 'bad', 'by-hand', 401, 'SESSION_REJECTED'],
  ])(
    'carries the denial of a message with %s, which the client also gets as an exception',
    async (_case, token, event, status, code) => {
      service.signInAs({ role: 'new_hire' }, 'good');
      await connect(token);

      expect(await ask(event)).toEqual(denial(status, code));
      expect(exceptions).toEqual([denial(status, code)]);
    },
  );

  it('carries the denial for any payload of the message', async () => {
    await connect('bad');
    for (const payload of [[], [{ some: 'payload' }], [1, 2, 3], [['a']], [null]]) {
      expect(await ask('me', ...payload)).toEqual(denial(401, 'SESSION_REJECTED'));
    }
  });

  it('carries the denial of an outage, with the time to wait', async () => {
    service.on('user_details', reply(500));
    await connect('good');

    expect(await ask('me')).toEqual({
      ...denial(503, 'SESSION_SERVICE_UNAVAILABLE'),
      retryAfterSeconds: expect.any(Number),
    });
  });

  it('carries an error of the service class that a handler with the filter lets through', async () => {
    service.on('sign_out', reply(403));
    await connect();

    expect(await ask('sign-out')).toEqual(denial(403, 'ACCESS_DENIED'));
  });

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

  it('carries the answer of a handler that runs', async () => {
    await connect(service.signInAs({}, 'good'));

    expect(await ask('me')).toBe('ann');
    expect(await ask('by-hand')).toBe('by hand');
  });
});
