import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Scope,
  UseGuards,
  type INestApplication,
  type INestMicroservice,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  ClientProxyFactory,
  MessagePattern,
  Transport,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import type { AddressInfo, Server } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { testbed } from '../../support/testbed.js';
import { outcomeOf, visit, type AuditedApp } from './audited-app.js';

@Controller()
class RuledMessage {
  @MessagePattern('say') @Roles('boss') sayForBosses(): string {
    return visit('RuledMessage.sayForBosses');
  }
}

@Controller()
@Roles('boss')
class RuledMessages {
  @MessagePattern('say') sayForBosses(): string {
    return visit('RuledMessages.sayForBosses');
  }

  @MessagePattern('open') @Public() open(): string {
    return 'open';
  }
}

@Controller()
class PlainMessage {
  @MessagePattern('say') say(): string {
    return visit('PlainMessage.say');
  }

  @MessagePattern('open') @Public() open(): string {
    return 'open';
  }
}

@Controller({ scope: Scope.REQUEST })
class RequestScopedMessage {
  @MessagePattern('say') say(): string {
    return visit('RequestScopedMessage.say');
  }
}

abstract class Base {
  @MessagePattern('say') say(): string {
    return visit('Base.say');
  }
}

@Controller()
class Derived extends Base {}

@Controller()
@UseGuards(SessionAuthGuard)
class GuardedMessage {
  @MessagePattern('say') say(): string {
    return visit('GuardedMessage.say');
  }
}

const TCP: MicroserviceOptions = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } };
const withGlobalGuard = { providers: [{ provide: APP_GUARD, useClass: SessionAuthGuard }] };
const closed = { options: { protectAllRoutes: true } };

/** Connects a microservice, and calls it. */
function hybrid(controller: Type, more: Partial<AuditedApp> = {}, inherit?: boolean): AuditedApp {
  let messages: INestMicroservice;
  let started: Promise<unknown> | undefined;
  return {
    controllers: [controller],
    ...more,
    configure: (app: INestApplication) => {
      more.configure?.(app);
      messages = app.connectMicroservice<MicroserviceOptions>(
        TCP,
        inherit === undefined ? {} : { inheritAppConfig: inherit },
      );
    },
    call: async ({ app }, token) => {
      await (started ??= app.startAllMicroservices());
      await ask(messages, token);
    },
  };
}

async function ask(messages: INestMicroservice, token: string | undefined): Promise<void> {
  const { port } = messages.unwrap<Server>().address() as AddressInfo;
  const client = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
  });
  await firstValueFrom(client.send<unknown>('say', { token })).catch((error: unknown) => error);
  client.close();
}

const guarding = {
  configure: (app: INestApplication) => void app.useGlobalGuards(app.get(SessionAuthGuard)),
};

describe('a hybrid application', () => {
  const bed = testbed();

  it.each<[string, () => AuditedApp, string[]]>([
    ['a rule on a handler', () => hybrid(RuledMessage), ['RuledMessage.sayForBosses']],
    ['a rule on a class', () => hybrid(RuledMessages), ['RuledMessages.sayForBosses']],
    ['a guard on a class', () => hybrid(GuardedMessage), ['GuardedMessage.say']],
    ['a rule, and inheritAppConfig', () => hybrid(RuledMessage, closed, true), ['RuledMessage.sayForBosses']],
    ['protectAllRoutes', () => hybrid(PlainMessage, closed), ['PlainMessage.say']],
    [
      'protectAllRoutes, and inheritAppConfig',
      () => hybrid(PlainMessage, closed, true),
      ['PlainMessage.say'],
    ],
    [
      'protectAllRoutes, and inheritAppConfig: false',
      () => hybrid(PlainMessage, closed, false),
      ['PlainMessage.say'],
    ],
    [
      'protectAllRoutes, and a controller for each message',
      () => hybrid(RequestScopedMessage, closed),
      ['RequestScopedMessage.say'],
    ],
    ['protectAllRoutes, and a handler that is inherited', () => hybrid(Derived, closed), ['Base.say']],
    ['APP_GUARD', () => hybrid(PlainMessage, withGlobalGuard), ['PlainMessage.say']],
    ['useGlobalGuards()', () => hybrid(PlainMessage, guarding), ['PlainMessage.say']],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service())).toEqual({
      open: [],
      served,
      named: [],
      isStopped: false,
    });
  });

  it('leaves message handlers without a rule open if the application has no guard, also after one that has', async () => {
    await outcomeOf(() => hybrid(PlainMessage, closed), await bed.service());
    const create = () => hybrid(PlainMessage);
    expect(await outcomeOf(create, await bed.service())).toEqual({
      open: ['PlainMessage.say'],
      served: ['PlainMessage.say'],
      named: [],
      isStopped: false,
    });
  });
});
