import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Catch,
  Controller,
  type ExceptionFilter,
  type INestMicroservice,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { MessagePattern, Payload, RpcException, type MicroserviceOptions } from '@nestjs/microservices';
import { fromPayload, Roles, SessionAuthService } from 'nestjs-session-auth';
import { firstValueFrom, throwError, type Observable } from 'rxjs';
import { sampleApp } from '../support/sample-app.js';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { TCP, tcpClientOf } from './openings.microservice.js';

const caught: unknown[] = [];

/** Answers each error with a text of the application. */
@Catch()
class CatchEverythingFilter implements ExceptionFilter {
  catch(exception: unknown): Observable<never> {
    caught.push(exception);
    return throwError(() => ({ status: 'error', sentBy: 'application' }));
  }
}

@Catch(RpcException)
class RpcFilter extends CatchEverythingFilter {}

@Controller()
class AccountMessages {
  constructor(private readonly sessions: SessionAuthService) {}

  @MessagePattern('managers')
  @Roles('manager')
  managers(): string {
    return 'in';
  }

  @MessagePattern('sign-in')
  async signIn(@Payload() credentials: { username: string; password: string }): Promise<string> {
    return (await this.sessions.signIn(credentials)).kind;
  }
}

describe('message handlers of an application', () => {
  let service: ScriptedService;
  let app: INestMicroservice | undefined;
  beforeEach(async () => {
    caught.length = 0;
    service = await startScriptedService();
    service.signInAs({ role: 'clerk' }, 'clerk');
    service.on('sign_in', reply(401));
  });
  afterEach(async () => {
    await app?.close();
    await service.close();
  });

  /** The errors of a guard and of a handler, as a client gets them. */
  async function errorsOf(controller: Type, filters: Provider[] = []): Promise<unknown[]> {
    const root = sampleApp({
      baseUrl: service.url,
      options: { token: fromPayload('token') },
      controllers: [controller],
      providers: filters,
    });
    app = await NestFactory.createMicroservice<MicroserviceOptions>(root, { ...TCP, logger: false });
    await app.listen();
    const client = tcpClientOf(app);
    const ask = (pattern: string, payload: object): Promise<unknown> =>
      firstValueFrom(client.send(pattern, payload)).catch((error: unknown) => error);
    const errors = [
      await ask('managers', { token: 'clerk' }),
      await ask('sign-in', { username: 'ann', password: 'x' }),
    ];
    client.close();
    return errors;
  }

  const denied = expect.objectContaining({ status: 'error', code: 'ACCESS_DENIED' }) as unknown;
  const wrong = expect.objectContaining({ status: 'error', code: 'CREDENTIALS_REJECTED' }) as unknown;
  const ofApplication = { status: 'error', sentBy: 'application' };
  const deniedException = expect.objectContaining({ error: denied }) as unknown;
  const wrongError = expect.objectContaining({
    name: 'CredentialsRejectedError',
    code: 'CREDENTIALS_REJECTED',
  }) as unknown;

  it('without a filter, a message handler answers the errors of guard and service with their codes [P22]', async () => {
    expect(await errorsOf(AccountMessages)).toEqual([denied, wrong]);
  });

  it('a catch-all filter of a microservice receives an RpcException of the guard and an HttpException of the service [P22]', async () => {
    expect(
      await errorsOf(AccountMessages, [{ provide: APP_FILTER, useClass: CatchEverythingFilter }]),
    ).toEqual([ofApplication, ofApplication]);
    expect(caught).toEqual([deniedException, wrongError]);
  });

  it('a filter of RpcException receives the denials of the guard, and an error of the service keeps its code [P22]', async () => {
    expect(await errorsOf(AccountMessages, [{ provide: APP_FILTER, useClass: RpcFilter }])).toEqual([
      ofApplication,
      wrong,
    ]);
  });
});
