import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, type ClientProxy, type MicroserviceOptions } from '@nestjs/microservices';
import { CurrentUser, fromPayload, SessionAuthModule, SessionAuthority } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { always } from '../support/always.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { TCP, tcpClientOf } from './openings.microservice.js';

@Controller()
class Messages {
  @MessagePattern('own')
  @SessionAuthority('default')
  own(@CurrentUser('username') username: string | undefined): string {
    return `own ${String(username)}`;
  }

  @MessagePattern('partners')
  @SessionAuthority('partners')
  partners(@CurrentUser('username') username: string | undefined): string {
    return `partner ${String(username)}`;
  }

  @MessagePattern('selected')
  selected(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }
}

@Module({ controllers: [Messages] })
class Root {}

describe('messages and several session services', () => {
  let own: ScriptedService;
  let partners: ScriptedService;
  let app: INestMicroservice;
  let client: ClientProxy;

  beforeEach(async () => {
    [own, partners] = [await startScriptedService(), await startScriptedService()];
    const token = fromPayload('token');
    const authority = (context: { getArgByIndex(index: number): { readonly tenant?: string } }): string =>
      context.getArgByIndex(0).tenant ?? 'default';
    const root = {
      module: Root,
      imports: [
        SessionAuthModule.forRoot({
          baseUrl: own.url,
          apiKey: 'own-key',
          token,
          protectAllRoutes: true,
          authority,
        }),
        SessionAuthModule.forRoot({ name: 'partners', baseUrl: partners.url, apiKey: 'partner-key', token }),
      ],
    };
    app = await NestFactory.createMicroservice<MicroserviceOptions>(root, { ...TCP, logger: false });
    await app.listen();
    client = tcpClientOf(app);
    await client.connect();
  });
  afterEach(async () => {
    await client.close();
    await app.close();
    await Promise.all([own.close(), partners.close()]);
  });

  const send = (pattern: string, data: object): Promise<unknown> =>
    firstValueFrom(client.send<unknown>(pattern, data)).catch(
      (error: unknown) => (error as { readonly code?: string }).code,
    );
  const tokensAt = ({ requests }: ScriptedService): unknown[] =>
    requests.map(({ headers }) => headers['x-auth-token']);

  it('are checked by the one that the handler names, and by no other', async () => {
    const [ann, bob] = [own.signInAs({ username: 'ann' }), partners.signInAs({ username: 'bob' })];

    expect(await send('own', { token: ann, tenant: 'partners' })).toBe('own ann');
    expect(await send('partners', { token: bob })).toBe('partner bob');
    expect([tokensAt(own), tokensAt(partners)]).toEqual([[ann], [bob]]);
    expect(await always(() => send('partners', { token: ann }))).toBe('SESSION_REJECTED');
  });

  it('are checked by the one that the option authority selects', async () => {
    const [ann, bob] = [own.signInAs({ username: 'ann' }), partners.signInAs({ username: 'bob' })];

    expect(await send('selected', { token: ann })).toBe('ann');
    expect(await send('selected', { token: bob, tenant: 'partners' })).toBe('bob');
    expect(await always(() => send('selected', { token: bob, tenant: 'unknown' }))).toBe('SESSION_REJECTED');
    expect([tokensAt(own), tokensAt(partners)]).toEqual([[ann], [bob]]);
  });
});
