import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, type INestMicroservice, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport, type MicroserviceOptions } from '@nestjs/microservices';
import { fromPayload, Public, Roles, SessionAuthGuard, type SessionAuthExtras, type SessionAuthOptions } from 'nestjs-session-auth';
import type { AddressInfo, Server } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { sampleApp } from '../../support/sample-app.js';
import { testbed } from '../../support/testbed.js';

@Controller()
class Ruled {
  @MessagePattern('say') @Roles('boss') say(): string {
    return 'said';
  }
}

@Controller()
class Plain {
  @MessagePattern('say') say(): string {
    return 'said';
  }

  @MessagePattern('open') @Public() open(): string {
    return 'open';
  }
}

describe('a microservice', () => {
  const bed = testbed();
  let messages: INestMicroservice | undefined;
  afterEach(() => messages?.close());

  async function start(controller: Type, extras: Partial<SessionAuthOptions & SessionAuthExtras>, isGuarded = false) {
    const service = await bed.service();
    const options = { token: fromPayload('token'), audit: 'error', ...extras } as const;
    const root = sampleApp({ baseUrl: service.url, options, controllers: [controller] });
    const tcp = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } } as const;
    // With a snapshot Nest inspects what every module holds.
    messages = await NestFactory.createMicroservice<MicroserviceOptions>(root, {
      ...tcp,
      logger: false,
      abortOnError: false,
      snapshot: true,
    });
    if (isGuarded) messages.useGlobalGuards(messages.get(SessionAuthGuard));
    await messages.listen();
    const { port } = messages.unwrap<Server>().address() as AddressInfo;
    return async (pattern: string, role?: string) => {
      const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
      const token = role === undefined ? undefined : service.signInAs({ role }, role);
      const reply = await firstValueFrom(client.send<string>(pattern, { token })).catch(
        (error: unknown) => (error as { code: string }).code,
      );
      client.close();
      return reply;
    };
  }

  it.each<[string, () => ReturnType<typeof start>, string]>([
    ['a rule', () => start(Ruled, {}), 'ACCESS_DENIED'],
    ['protectAllRoutes', () => start(Plain, { protectAllRoutes: true }), 'said'],
    ['useGlobalGuards()', () => start(Plain, {}, true), 'said'],
  ])('of its own is closed and passes the audit, with %s', async (_name, starting, forClerk) => {
    const ask = await starting();
    expect([await ask('say'), await ask('say', 'clerk'), await ask('say', 'boss')]).toEqual(['SESSION_REQUIRED', forClerk, 'said']);
  });

  it('answers public messages of a closed application', async () => {
    const ask = await start(Plain, { protectAllRoutes: true });
    expect(await ask('open')).toBe('open');
  });
});
