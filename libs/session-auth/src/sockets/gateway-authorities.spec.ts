import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, Optional, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WebSocketGateway } from '@nestjs/websockets';
import { InvalidConfigurationError } from '../contract/errors.js';
import { SessionAuthority } from '../guard/access.decorators.js';
import { InjectSessionAuth } from '../module/authorities/authority-tokens.js';
import { SessionAuthModule } from '../module/session-auth.module.js';
import { SessionSockets } from './session-sockets.js';
import { sessionSockets } from './sockets.plugin.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key', plugins: [sessionSockets] };

@SessionAuthority('partners')
@WebSocketGateway()
class OfPartnersWithOwnSockets {
  constructor(readonly sockets: SessionSockets) {}
}

@WebSocketGateway()
class OfDefaultWithPartnersSockets {
  @InjectSessionAuth('partners', SessionSockets) readonly sockets!: SessionSockets;
}

@WebSocketGateway()
class WithBothSockets {
  constructor(
    @Optional() @Inject('absent') readonly absent: unknown,
    @Inject('value') readonly value: unknown,
    readonly own: SessionSockets,
    @InjectSessionAuth('partners', SessionSockets) readonly partners: SessionSockets,
  ) {}
}

@SessionAuthority('partners')
@WebSocketGateway()
class OfPartners {
  constructor(
    @Optional() @Inject('absent') readonly absent: unknown,
    @Inject('value') readonly value: unknown,
    @InjectSessionAuth('partners', SessionSockets) readonly sockets: SessionSockets,
  ) {}
}

@SessionAuthority('default')
@WebSocketGateway()
class OfDefault {
  constructor(readonly sockets: SessionSockets) {}
}

@WebSocketGateway()
class WithoutName {
  constructor(readonly sockets: SessionSockets) {}
}

@WebSocketGateway()
class WithoutSockets {}

@Injectable()
class NoGateway {
  @InjectSessionAuth('partners', SessionSockets) readonly sockets!: SessionSockets;
}

@Module({})
class Root {}

async function start(...providers: Type[]): Promise<void> {
  const root: DynamicModule = {
    module: Root,
    imports: [
      SessionAuthModule.forRoot(OPTIONS),
      SessionAuthModule.forRoot({ ...OPTIONS, name: 'partners' }),
    ],
    providers: [{ provide: 'value', useValue: 7 }, ...providers],
  };
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  await context.close();
}

describe('a gateway', () => {
  it.each<[string, Type, string]>([
    ['default', OfPartnersWithOwnSockets, 'partners'],
    ['partners', OfDefaultWithPartnersSockets, 'default'],
    ['partners', WithBothSockets, 'default'],
  ])('with SessionSockets of the authority %j stops the start: %p', async (sockets, gateway, messages) => {
    const error: unknown = await start(WithoutName, gateway).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect((error as Error).message).toContain(
      `${gateway.name} has SessionSockets of the authority '${sockets}', and its messages are checked by '${messages}'.`,
    );
  });

  it.each<[string, Type]>([
    ['has the sockets and the name of one authority', OfPartners],
    ['has the sockets of the default authority, and its name', OfDefault],
    ['has the sockets of the default authority, and no name', WithoutName],
    ['has no sockets', WithoutSockets],
  ])('may start if it %s', async (_case, gateway) => {
    await expect(start(gateway)).resolves.toBeUndefined();
  });
});

describe('a provider that is no gateway', () => {
  it('may have the sockets of any authority', async () => {
    await expect(start(NoGateway)).resolves.toBeUndefined();
  });
});
