import { describe, expect, afterEach, it } from '@jest/globals';
import {
  Controller,
  Get,
  UseInterceptors,
  UseGuards,
  type CallHandler,
  type DynamicModule,
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
import { startSessionService } from 'nestjs-session-auth/testing';
import type { AddressInfo, Server } from 'node:net';
import { firstValueFrom, type Observable } from 'rxjs';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { CapturedLog } from '../../support/captured-log.js';
import { EXPRESS, startApp } from '../../support/platforms.js';
import { sampleApp, type SampleApp } from '../../support/sample-app.js';
import { plainRow } from '../../support/trial/row.js';
import { testbed } from '../../support/testbed.js';
import { SOCKET_IO } from '../../sockets/peers.js';
import { findingsIn, outcomeOf, visit, type AuditedApp } from './audited-app.js';

@Resolver('Opening')
class OpeningsResolver {
  @ResolveReference() @Roles('boss') resolveReference(): object {
    return { id: 1 };
  }

  @ResolveField('salary') @Roles('boss') salary(): string {
    return 'much';
  }
}

@Controller()
class MessagesController {
  @MessagePattern('ruled') @Roles('boss') ruled(): string {
    return 'ruled';
  }

  @MessagePattern('plain') plain(): string {
    return 'plain';
  }

  @MessagePattern('open') @Public() open(): string {
    return 'open';
  }
}

class CacheInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Controller()
class CachedController {
  @Get('salary') @Roles('boss') @UseInterceptors(CacheInterceptor) salary(): string {
    return 'much';
  }
}

@Controller()
class UncachedController {
  @Get('salary') @Roles('boss') salary(): string {
    return 'much';
  }
}

function subgraph(fieldResolverEnhancers: 'guards'[] = []): DynamicModule[] {
  const typeDefs = 'type Opening @key(fields: "id") { id: Int salary: String }';
  return [
    GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloFederationDriver,
      typeDefs,
      fieldResolverEnhancers,
      plugins: [ApolloServerPluginInlineTraceDisabled()],
    }),
  ];
}

/**
 * Returns what the audit names, the replies to a caller without a session, and whether the audit stops the
 * application.
 */
async function trial<Seen>(
  sample: Omit<SampleApp, 'baseUrl'>,
  look: (url: string, app: INestApplication) => Promise<Seen>,
): Promise<{ findings: string[]; seen: Seen; stopped: 'never' | 'always' | "with 'error'" }> {
  const service = await startSessionService();
  const logger = new CapturedLog();
  const start = (options: Partial<SessionAuthOptions & SessionAuthExtras>, log = new CapturedLog()) =>
    startApp(
      EXPRESS,
      sampleApp({
        baseUrl: service.url,
        controllers: [],
        ...sample,
        options: { ...sample.options, ...options },
      }),
      {
        logger: log,
      },
    ).catch((error: unknown) => error as Error);
  const started = await start({}, logger);
  const app = started instanceof Error ? await start({ audit: 'off' }) : started;
  if (app instanceof Error) throw app;
  const seen = await look(app.url, app.app);
  await app.close();
  const second = await start({ audit: 'error' });
  if (!(second instanceof Error)) await second.close();
  await service.close();
  if (started instanceof Error) return { findings: findingsIn(started), seen, stopped: 'always' };
  return {
    findings: logger.having('warn', 'audit'),
    seen,
    stopped: second instanceof Error ? "with 'error'" : 'never',
  };
}

async function salaryOfEntity(url: string): Promise<string> {
  const query =
    '{ _entities(representations: [{ __typename: "Opening", id: 1 }]) { ... on Opening { salary } } }';
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).text();
}

async function askMessages(_url: string, app: INestApplication): Promise<unknown[]> {
  const options = { host: '127.0.0.1', port: 0 };
  const messages = app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options });
  await app.startAllMicroservices();
  const { port } = messages.unwrap<Server>().address() as AddressInfo;
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { ...options, port } });
  const ask = (pattern: string) =>
    firstValueFrom(client.send<unknown>(pattern, {})).catch(
      (error: unknown) => (error as { code: string }).code,
    );
  const replies = [await ask('ruled'), await ask('plain'), await ask('open')];
  client.close();
  return replies;
}

describe('rules where Nest runs no guards', () => {
  plainRow(
    'references and fields of a subgraph are guarded, or the audit names them and stops the start [P05]',
    async () => {
      const open = await trial({ imports: subgraph(), providers: [OpeningsResolver] }, salaryOfEntity);
      expect(open.seen).toContain('much');
      expect(open.findings).toEqual([
        expect.stringContaining(
          'OpeningsResolver.resolveReference can be reached through Query._entities without its check',
        ),
        expect.stringContaining(
          'OpeningsResolver.salary can be reached through Query._entities without its check',
        ),
      ]);
      expect(open.stopped).toBe('always');

      const closed = await trial(
        { imports: subgraph(['guards']), providers: [OpeningsResolver] },
        salaryOfEntity,
      );
      expect(closed.seen).toContain('SESSION_REQUIRED');
      expect(closed).toMatchObject({ findings: [], stopped: 'never' });
    },
  );

  plainRow(
    'message handlers are closed where a microservice is connected without inheritAppConfig [P06]',
    async () => {
      const controllers = [MessagesController];
      const withRules = await trial({ controllers, options: { token: fromPayload('token') } }, askMessages);
      expect(withRules).toEqual({
        findings: [],
        stopped: 'never',
        seen: ['SESSION_REQUIRED', 'plain', 'open'],
      });

      const closed = await trial(
        { controllers, options: { token: fromPayload('token'), protectAllRoutes: true } },
        askMessages,
      );
      expect(closed).toEqual({
        findings: [],
        stopped: 'never',
        seen: ['SESSION_REQUIRED', 'SESSION_REQUIRED', 'open'],
      });
    },
  );

  plainRow(
    'a guarded route that CacheInterceptor caches for all users, local or global, is named by the audit with a remedy, which stops the start [P23]',
    async () => {
      const samples = [
        { controllers: [CachedController] },
        {
          controllers: [UncachedController],
          providers: [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor }],
        },
      ];
      for (const sample of samples) {
        const cached = await trial(sample, async (url) => (await fetch(`${url}/salary`)).status);
        expect(cached).toMatchObject({ seen: 401, stopped: "with 'error'" });
        expect(cached.findings).toEqual([
          expect.stringMatching(/[.]salary is cached for all users at once: .* override trackBy\(\)/),
        ]);
      }
    },
  );
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
    ['protectAllRoutes', () => start(Plain, { protectAllRoutes: true }), 'said'],
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
class RuledMessage {
  @SubscribeMessage('say') @Roles('boss') sayForBosses(): unknown {
    visit('RuledMessage.sayForBosses');
    return SAID;
  }
}

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

@WebSocketGateway()
@UseGuards(SessionAuthGuard)
class GuardedGateway {
  @SubscribeMessage('say') say(): unknown {
    visit('GuardedGateway.say');
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

const closed = { options: { protectAllRoutes: true } };
const withGlobalGuard = { providers: [{ provide: APP_GUARD, useClass: SessionAuthGuard }] };
const guarding = {
  configure: (app: INestApplication) => void app.useGlobalGuards(app.get(SessionAuthGuard)),
};

describe('an application with a gateway', () => {
  const bed = testbed();

  it.each<[string, () => AuditedApp, string[]]>([
    ['a rule on a message', () => serving(RuledMessage), ['RuledMessage.sayForBosses']],
    ['a rule on the gateway', () => serving(RuledGateway), ['RuledGateway.sayForBosses']],
    ['a guard on the gateway', () => serving(GuardedGateway), ['GuardedGateway.say']],
    ['protectAllRoutes', () => serving(PlainGateway, closed), ['PlainGateway.say']],
    ['APP_GUARD', () => serving(PlainGateway, withGlobalGuard), ['PlainGateway.say']],
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
