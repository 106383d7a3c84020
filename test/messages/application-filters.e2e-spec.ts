import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import type { AddressInfo, Server } from 'node:net';
import { Catch, Controller, UseFilters, type ExceptionFilter, type INestMicroservice, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Payload, RpcException, Transport, type MicroserviceOptions } from '@nestjs/microservices';
import { fromPayload, Roles, SessionAuthService } from 'nestjs-session-auth';
import { SessionAuthError } from 'nestjs-session-auth/errors';
import { firstValueFrom, throwError, type Observable } from 'rxjs';
import { sampleApp } from '../support/sample-app.js';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { plainRow } from '../support/trial/row.js';

const HOST = '127.0.0.1';
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

@Catch(SessionAuthError)
class SessionFilter extends CatchEverythingFilter {}

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

@Controller()
@UseFilters(CatchEverythingFilter)
class FilteredMessages extends AccountMessages {}

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
    const options: MicroserviceOptions = { transport: Transport.TCP, options: { host: HOST, port: 0 } };
    app = await NestFactory.createMicroservice<MicroserviceOptions>(root, { ...options, logger: false });
    await app.listen();
    const { port } = app.unwrap<Server>().address() as AddressInfo;
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: HOST, port } });
    const ask = (pattern: string, payload: object): Promise<unknown> =>
      firstValueFrom(client.send(pattern, payload)).catch((error: unknown) => error);
    const errors = [await ask('managers', { token: 'clerk' }), await ask('sign-in', { username: 'ann', password: 'x' })];
    client.close();
    return errors;
  }

  const denied = expect.objectContaining({ statusCode: 403, code: 'ACCESS_DENIED' }) as unknown;
  const wrong = expect.objectContaining({ statusCode: 401, code: 'CREDENTIALS_REJECTED' }) as unknown;
  const ofApplication = { status: 'error', sentBy: 'application' };
  const deniedException = expect.objectContaining({ error: denied }) as unknown;
  const wrongError = expect.objectContaining({ name: 'CredentialsRejectedError', code: 'CREDENTIALS_REJECTED' }) as unknown;

  plainRow('answer the errors of guard and service with their codes, without a filter [P22]', async () => {
    expect(await errorsOf(AccountMessages)).toEqual([denied, wrong]);
  });

  plainRow(
    'leave both to the catch-all of an application: an RpcException of the guard, an HttpException of the service [P22]',
    async () => {
      expect(await errorsOf(AccountMessages, [{ provide: APP_FILTER, useClass: CatchEverythingFilter }])).toEqual([
        ofApplication,
        ofApplication,
      ]);
      expect(caught).toEqual([deniedException, wrongError]);
    },
  );

  plainRow('leave both to a filter on the controller [P22]', async () => {
    expect(await errorsOf(FilteredMessages)).toEqual([ofApplication, ofApplication]);
    expect(caught).toEqual([deniedException, wrongError]);
  });

  plainRow('leave the denials of the guard to a filter of RpcException [P22]', async () => {
    expect(await errorsOf(AccountMessages, [{ provide: APP_FILTER, useClass: RpcFilter }])).toEqual([ofApplication, wrong]);
  });

  plainRow('leave the errors of the service to a filter of SessionAuthError [P22]', async () => {
    expect(await errorsOf(AccountMessages, [{ provide: APP_FILTER, useClass: SessionFilter }])).toEqual([denied, ofApplication]);
  });
});
