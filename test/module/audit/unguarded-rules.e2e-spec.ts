import { describe, expect, afterEach, it } from '@jest/globals';
import {
  Controller,
  Get,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
  type INestMicroservice,
  type Type,
} from '@nestjs/common';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { ApolloFederationDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import {
  ClientProxyFactory,
  MessagePattern,
  Transport,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import {
  fromPayload,
  Public,
  Roles,
  SessionAuthGuard,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import type { AddressInfo, Server } from 'node:net';
import { firstValueFrom, type Observable } from 'rxjs';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { RunningApp } from '../../support/platforms.js';
import { sampleApp } from '../../support/sample-app.js';
import { testbed } from '../../support/testbed.js';
import { SOCKET_IO } from '../../sockets/peers.js';
import { askGraphql, hybrid, outcomeOf, visit, type AuditedApp } from './audited-app.js';

@Resolver('Opening')
class OpeningsResolver {
  @ResolveReference() @Roles('boss') referenceForBosses(): object {
    visit('OpeningsResolver.referenceForBosses');
    return { id: 1 };
  }

  @ResolveField('salary') @Roles('boss') salaryForBosses(): string {
    return visit('OpeningsResolver.salaryForBosses');
  }
}

@Controller()
class MessagesController {
  @MessagePattern('ruled') @Roles('boss') ruledForBosses(): string {
    return visit('MessagesController.ruledForBosses');
  }

  @MessagePattern('plain') plain(): string {
    return visit('MessagesController.plain');
  }

  @MessagePattern('open') @Public() open(): string {
    return visit('MessagesController.open');
  }
}

class CacheInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Controller()
class CachedController {
  @Get('salary') @Roles('boss') @UseInterceptors(CacheInterceptor) salaryForBosses(): string {
    return visit('CachedController.salaryForBosses');
  }
}

@Controller()
class UncachedController {
  @Get('salary') @Roles('boss') salaryForBosses(): string {
    return visit('UncachedController.salaryForBosses');
  }
}

function subgraph(fieldResolverEnhancers: 'guards'[] = []): AuditedApp {
  const module = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloFederationDriver,
    typeDefs: 'type Opening @key(fields: "id") { id: Int salary: String }',
    fieldResolverEnhancers,
    plugins: [ApolloServerPluginInlineTraceDisabled()],
  });
  return {
    imports: [module],
    providers: [OpeningsResolver],
    call: (...asking) => askGraphql(...asking, ENTITIES),
  };
}

const ENTITIES =
  '{ _entities(representations: [{ __typename: "Opening", id: 1 }]) { ... on Opening { salary } } }';

const places = (owner: Type, ...names: string[]): string[] => names.map((name) => `${owner.name}.${name}`);

describe('rules where Nest runs no guards', () => {
  const bed = testbed();

  it('references and fields of a subgraph are guarded, or the audit names them and stops the start [P05]', async () => {
    const service = await bed.service();
    const both = places(OpeningsResolver, 'referenceForBosses', 'salaryForBosses');
    const stopped = { isStopped: true, isStoppedByDefault: true };
    const ofStranger = { open: both, served: both, named: both };
    expect(await outcomeOf(() => subgraph(), service)).toEqual({ ...ofStranger, ...stopped });
    const guarded = { open: [], served: both, named: [], isStopped: false };
    expect(await outcomeOf(() => subgraph(['guards']), service)).toEqual(guarded);
  });

  it('message handlers are closed where a microservice is connected without inheritAppConfig [P06]', async () => {
    const service = await bed.service();
    const asking = (options: NonNullable<AuditedApp['options']>) => () =>
      hybrid(MessagesController, ['ruled', 'plain', 'open'], { options });
    const served = places(MessagesController, 'open', 'plain', 'ruledForBosses');
    const passing = { served, named: [], isStopped: false };
    const open = places(MessagesController, 'open', 'plain');
    expect(await outcomeOf(asking({}), service)).toEqual({ open, ...passing });
    const closed = await outcomeOf(asking({ protectAllRoutes: true }), service);
    // A session of any role is enough for the handler without a rule.
    expect(closed).toEqual({ open: places(MessagesController, 'open'), ...passing });
  });

  it('a guarded route that CacheInterceptor caches for all users, local or global, is named by the audit with a remedy, which stops the start [P23]', async () => {
    const service = await bed.service();
    const global = { provide: APP_INTERCEPTOR, useClass: CacheInterceptor };
    const call = (app: RunningApp, token?: string): Promise<unknown> => app.get('/salary', token);
    for (const [controller, providers] of [
      [CachedController, []],
      [UncachedController, [global]],
    ] as const) {
      const named = places(controller, 'salaryForBosses');
      const create = (): AuditedApp => ({ controllers: [controller], providers: [...providers], call });
      const expected = { open: [], served: named, named, isStopped: true };
      expect(await outcomeOf(create, service)).toEqual(expected);
    }
  });
});

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

  async function start(
    controller: Type,
    extras: Partial<SessionAuthOptions & SessionAuthExtras>,
    isGuarded = false,
  ) {
    const service = await bed.service();
    const options = { token: fromPayload('token'), audit: 'error', ...extras } as const;
    const root = sampleApp({ baseUrl: service.url, options, controllers: [controller] });
    const tcp = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } } as const;
    // With a snapshot Nest inspects the contents of every module.
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
      const client = ClientProxyFactory.create({
        transport: Transport.TCP,
        options: { host: '127.0.0.1', port },
      });
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
    ['useGlobalGuards()', () => start(Plain, {}, true), 'said'],
  ])('of its own is closed and passes the audit, with %s', async (_name, starting, forClerk) => {
    const ask = await starting();
    expect([await ask('say'), await ask('say', 'clerk'), await ask('say', 'boss')]).toEqual([
      'SESSION_REQUIRED',
      forClerk,
      'said',
    ]);
  });

  it('answers public messages of a closed application', async () => {
    const ask = await start(Plain, { protectAllRoutes: true });
    expect(await ask('open')).toBe('open');
  });
});

const SAID = { event: 'answer', data: 'said' };

@WebSocketGateway()
@Roles('boss')
class RuledGateway {
  @SubscribeMessage('say') sayForBosses(): unknown {
    visit('RuledGateway.sayForBosses');
    return SAID;
  }
}

@WebSocketGateway()
class PlainGateway {
  @SubscribeMessage('say') say(): unknown {
    visit('PlainGateway.say');
    return SAID;
  }

  @SubscribeMessage('open') @Public() open(): unknown {
    return SAID;
  }
}

const [, adapter, connect] = SOCKET_IO;

function serving(gateway: Type, more: Partial<AuditedApp> = {}): AuditedApp {
  return {
    ...more,
    providers: [gateway, ...(more.providers ?? [])],
    configure: (app: INestApplication) => {
      more.configure?.(app);
      app.useWebSocketAdapter(adapter(app));
    },
    call: async ({ url }, token) => {
      const peer = await connect(url, {});
      await peer.ask('say', { token });
      await peer.close();
    },
  };
}

const guarding = {
  configure: (app: INestApplication) => void app.useGlobalGuards(app.get(SessionAuthGuard)),
};

describe('an application with a gateway', () => {
  const bed = testbed();

  it.each<[string, () => AuditedApp, string[]]>([
    ['a rule on the gateway', () => serving(RuledGateway), ['RuledGateway.sayForBosses']],
    ['useGlobalGuards()', () => serving(PlainGateway, guarding), ['PlainGateway.say']],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service())).toEqual({
      open: [],
      served,
      named: [],
      isStopped: false,
    });
  });
});
