import { describe, expect, it } from '@jest/globals';
import { Catch, UseFilters, type ArgumentsHost, type ExceptionFilter, type Type } from '@nestjs/common';
import { MessageBody, SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets';
import { fromPayload, Roles, SessionAuthService } from 'nestjs-session-auth';
import { SessionAuthErrorFilter } from 'nestjs-session-auth/errors';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { SOCKET_IO, type Message } from './peers.js';

const caught: unknown[] = [];
const OWN = { sentBy: 'application' };

@Catch()
class CatchEverythingFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    caught.push(exception);
    host.getArgByIndex<{ emit(event: string, data: unknown): void }>(0).emit('exception', OWN);
  }
}

@WebSocketGateway()
class PlainGateway {
  constructor(private readonly sessions: SessionAuthService) {}

  @SubscribeMessage('managers')
  @Roles('manager')
  managers(): string {
    return 'in';
  }

  @SubscribeMessage('sign-in')
  async signIn(@MessageBody() credentials: { username: string; password: string }): Promise<string> {
    return (await this.sessions.signIn(credentials)).kind;
  }
}

@WebSocketGateway()
@UseFilters(SessionAuthErrorFilter)
class AnsweringGateway extends PlainGateway {}

@WebSocketGateway()
@UseFilters(CatchEverythingFilter)
class CatchingGateway extends PlainGateway {}

describe('gateways of an application', () => {
  const bed = testbed();

  /** The errors of a guard and of a handler, as a client gets them. */
  async function errorsOf(gateway: Type): Promise<readonly Message[]> {
    caught.length = 0;
    const service = await bed.service();
    service.signInAs({ role: 'clerk' }, 'clerk');
    service.on('sign_in', reply(401));
    const [, adapter, connect] = SOCKET_IO;
    const options = { token: fromPayload('token') };
    const { url } = await bed.sample(
      { baseUrl: service.url, options, providers: [gateway], controllers: [] },
      { configure: (nest) => void nest.useWebSocketAdapter(adapter(nest)) },
    );
    const peer = await connect(url, {});
    const errors = [
      await peer.ask('managers', { token: 'clerk' }),
      await peer.ask('sign-in', { username: 'ann', password: 'x' }),
    ];
    await peer.close();
    return errors;
  }

  const exception = (data: object): Message => ['exception', expect.objectContaining(data)];
  const denied = exception({ status: 'error', statusCode: 403, code: 'ACCESS_DENIED' });
  const wrong = exception({ status: 'error', statusCode: 401, code: 'CREDENTIALS_REJECTED' });

  it('without a filter, a gateway sends the denials of the guard, and no detail of an error of the service [P22]', async () => {
    expect(await errorsOf(PlainGateway)).toEqual([
      denied,
      exception({ status: 'error', message: 'Internal server error' }),
    ]);
  });

  it('with SessionAuthErrorFilter, a gateway sends the errors of guard and service with their codes [P22]', async () => {
    expect(await errorsOf(AnsweringGateway)).toEqual([denied, wrong]);
  });

  it('a catch-all filter of a gateway receives a WsException of the guard and an HttpException of the service [P22]', async () => {
    expect(await errorsOf(CatchingGateway)).toEqual(Array(2).fill(['exception', OWN]));
    expect(caught).toEqual([
      expect.any(WsException),
      expect.objectContaining({ name: 'CredentialsRejectedError' }),
    ]);
    expect((caught[0] as WsException).getError()).toMatchObject({ statusCode: 403, code: 'ACCESS_DENIED' });
  });
});
