import { describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  Injectable,
  Scope,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type DynamicModule,
  type ExecutionContext,
  type INestApplication,
  type Provider,
  type Type,
} from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  Authorize,
  Public,
  Roles,
  SessionAuthGuard,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import { AcknowledgeAudit } from 'nestjs-session-auth/diagnostics';
import { accessMapOf, findOpenHandlers } from 'nestjs-session-auth/testing';
import type { Observable } from 'rxjs';
import { postGraphql } from '../graphql/graphql-client.js';
import { hybrid, outcomeOf, visit, type AuditedApp } from '../module/audit/audited-app.js';
import { SOCKET_IO } from '../sockets/peers.js';
import { CapturedLog } from '../support/captured-log.js';
import { platforms, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

type Options = Partial<SessionAuthOptions & SessionAuthExtras>;

@Resolver()
class Ruled {
  @Query('openings') @Roles('boss') openingsForBosses(): number[] {
    visit('Ruled.openingsForBosses');
    return [1];
  }
}

@Resolver()
class Base {
  @Query('openings') openingsForBosses(): number[] {
    visit('Base.openingsForBosses');
    return [1];
  }
}

@Resolver()
class Derived extends Base {
  @Query('openings') @Roles('boss') override openingsForBosses(): number[] {
    visit('Derived.openingsForBosses');
    return [1];
  }
}

class OnlyBosses {
  allows({ role }: { readonly role?: string }): boolean {
    return role === 'boss';
  }
}

@Resolver()
class WithPolicy {
  @Query('openings') @Authorize(OnlyBosses) openingsForBosses(): number[] {
    visit('WithPolicy.openingsForBosses');
    return [1];
  }
}

const graphql = (): DynamicModule =>
  GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    typeDefs: 'type Query { openings: [Int] others: Int }',
  });

async function ask({ url }: RunningApp, token: string | undefined): Promise<void> {
  await (await postGraphql(url, { query: '{ openings }' }, token)).text();
}

const resolving = (providers: Provider[], options: Options = {}) => {
  return (): AuditedApp => ({ imports: [graphql()], providers, options, call: ask });
};

@Controller('list')
class RuledList {
  @Get() @Roles('boss') listForBosses(): string {
    return visit('RuledList.listForBosses');
  }
}

@Controller('list')
class Overriding extends RuledList {
  @Get() override listForBosses(): string {
    return visit('Overriding.listForBosses');
  }
}

/** As a tracing package does: another function in the place of the method, without its metadata. */
function wrapped(_target: object, _name: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as () => string;
  descriptor.value = function traced(this: unknown): string {
    return method.call(this);
  };
}

@Controller('list')
class Wrapped {
  @Get() @wrapped @Roles('boss') listForBosses(): string {
    return visit('Wrapped.listForBosses');
  }
}

@Controller('list')
class Bound extends RuledList {
  constructor() {
    super();
    this.listForBosses = this.listForBosses.bind(this);
  }
}

@Controller({ path: 'list', scope: Scope.REQUEST })
@UseGuards(SessionAuthGuard)
class GuardedPerRequest extends Bound {}

@Controller('list')
class Unruled {
  @Get() listForBosses(): string {
    return visit('Unruled.listForBosses');
  }
}

@Controller('list')
class Ruling extends Unruled {
  @Get() @Roles('boss') override listForBosses(): string {
    return visit('Ruling.listForBosses');
  }
}

@Controller()
class RuledMessage {
  @MessagePattern('say') @Roles('boss') sayForBosses(): string {
    return visit('RuledMessage.sayForBosses');
  }
}

@Controller()
class OpenMessage {
  @MessagePattern('say') sayForBosses(): string {
    return visit('OpenMessage.sayForBosses');
  }
}

const listing = (controllers: Type | Type[], options: Options = {}) => {
  return (): AuditedApp => ({
    controllers: [controllers].flat(),
    options,
    call: (app, token) => app.get('/list', token),
  });
};

@Controller('list')
class Opening extends RuledList {
  @Get() @Public() override listForBosses(): string {
    return 'public';
  }
}

const [, adapter, connect] = SOCKET_IO;
const SAID = { event: 'answer', data: 'said' };

@WebSocketGateway()
class RuledGateway {
  @SubscribeMessage('say') @Roles('boss') sayForBosses(): unknown {
    visit('RuledGateway.sayForBosses');
    return SAID;
  }
}

@WebSocketGateway()
class SecondGateway {
  @SubscribeMessage('say') sayForBosses(): unknown {
    visit('SecondGateway.sayForBosses');
    return SAID;
  }
}

@WebSocketGateway({ namespace: 'elsewhere' })
class OtherNamespace {
  @SubscribeMessage('say') say(): void {
    visit('OtherNamespace.say');
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

@WebSocketGateway()
class OtherMessage {
  @SubscribeMessage('other') other(): void {
    visit('OtherMessage.other');
  }
}

const talking = (...providers: Provider[]) => {
  return (): AuditedApp => ({
    providers,
    configure: (app: INestApplication) => void app.useWebSocketAdapter(adapter(app)),
    call: async ({ url }, token) => {
      const peer = await connect(url, {});
      await peer.ask('say', { token });
      await peer.close();
    },
  });
};

const closed = { protectAllRoutes: true };

describe.each(platforms('Fastify'))('an application on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each<[string, () => AuditedApp, string]>([
    [
      'a resolver with a rule by useFactory',
      resolving([{ provide: Ruled, useFactory: () => new Ruled() }]),
      'Ruled',
    ],
    ['a resolver beside its base class, which Nest maps', resolving([Derived, Base]), 'Derived'],
  ])('does not start with %s [P31]', async (_case, create, name) => {
    const outcome = await outcomeOf(create, await bed.service(), platform);
    expect(outcome).toMatchObject({ named: [`${name}.openingsForBosses`], isStoppedByDefault: true });
    expect(outcome.open).toHaveLength(1);
  });

  it.each<[string, () => AuditedApp, string]>([
    ['a method that overrides one with a rule, and has none', listing(Overriding), 'Overriding'],
    ['a decorator that wraps the handler above its rule', listing(Wrapped), 'Wrapped'],
    ['a constructor that binds a handler with a rule', listing(Bound), 'Bound'],
    [
      'a message that another controller serves without its rule',
      () => hybrid([RuledMessage, OpenMessage], ['say']),
      'RuledMessage',
    ],
    [
      'a second gateway on the port of a protected one',
      talking(RuledGateway, SecondGateway),
      'SecondGateway',
    ],
  ])('does not start with %s [P32]', async (_case, create, name) => {
    const outcome = await outcomeOf(create, await bed.service(), platform);
    expect(outcome).toMatchObject({
      named: [expect.stringMatching(new RegExp(`^${name}[.]`))],
      isStoppedByDefault: true,
    });
    expect(outcome.open).toHaveLength(1);
  });

  it.each<[string, () => AuditedApp, string[]]>([
    [
      'a policy of a resolver by useFactory',
      resolving([OnlyBosses, { provide: 'openings', useFactory: () => new WithPolicy() }], closed),
      ['WithPolicy.openingsForBosses'],
    ],
    ['a resolver that replaces its base class', resolving([Base, Derived]), ['Derived.openingsForBosses']],
    ['an override that is public', listing(Opening), []],
    [
      'a bound handler of a guarded, scoped controller',
      listing(GuardedPerRequest),
      ['RuledList.listForBosses'],
    ],
    [
      'a message that another controller has too, earlier',
      () => hybrid([OpenMessage, RuledMessage], ['say']),
      ['RuledMessage.sayForBosses'],
    ],
    [
      'a second gateway in another namespace',
      talking(RuledGateway, OtherNamespace),
      ['RuledGateway.sayForBosses'],
    ],
  ])('starts, is closed and passes the audit with %s', async (_case, create, served) => {
    const outcome = await outcomeOf(create, await bed.service(), platform);
    const open = outcome.open.filter((handler) => !handler.startsWith('PublicGateway'));
    expect({ ...outcome, open }).toEqual({ open: [], served, named: [], isStopped: false });
  });

  it('starts with another message on the port of a guarded gateway, which the audit names', async () => {
    const outcome = await outcomeOf(talking(GuardedGateway, OtherMessage), await bed.service(), platform);
    expect(outcome).toEqual({
      open: [],
      served: ['GuardedGateway.say'],
      named: ['OtherMessage.other'],
      isStopped: true,
    });
  });

  it.each<[string, Provider[], string]>([
    ['by useFactory', [{ provide: Ruled, useFactory: () => new Ruled() }], 'Ruled'],
  ])('shows a resolver %s as open in the access map [P31]', async (_way, providers, name) => {
    const root = sampleApp({
      baseUrl: 'http://127.0.0.1:1',
      imports: [graphql()],
      controllers: [],
      providers,
      options: { audit: 'off' },
    });
    const running = await startApp(platform, root);
    const [map, open] = [accessMapOf(running.app), findOpenHandlers(running.app)];
    await running.close();
    expect(map).toEqual([
      {
        kind: 'graphql',
        call: 'Query.openings',
        handler: `${name}.openingsForBosses`,
        access: 'unguarded',
        rules: [],
        isOpen: true,
      },
    ]);
    expect(open).toEqual(map);
  });
});

describe('an application on Express, which serves the first of two routes', () => {
  const bed = testbed();

  it('does not start if the first one does not have the rule of the other [P32]', async () => {
    const outcome = await outcomeOf(listing([Unruled, Ruling]), await bed.service());
    expect(outcome).toMatchObject({
      open: ['Unruled.listForBosses'],
      named: ['Ruling.listForBosses'],
      isStoppedByDefault: true,
    });
  });

  it('starts if the first one has the rule', async () => {
    const outcome = await outcomeOf(listing([Ruling, Unruled]), await bed.service());
    expect(outcome).toEqual({ open: [], served: ['Ruling.listForBosses'], named: [], isStopped: false });
  });
});

@Injectable()
class CacheInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Controller()
class Holidays {
  @Get('holidays')
  @AcknowledgeAudit('the same for all users')
  @UseInterceptors(CacheInterceptor)
  @UseGuards(SessionAuthGuard)
  holidays(): string {
    return 'holidays';
  }
}

@Controller()
class Acknowledged extends RuledList {
  @Get() @AcknowledgeAudit('has no effect on a rule that is lost') override listForBosses(): string {
    return 'open';
  }
}

describe.each(platforms('Fastify'))(
  'a warning of the audit that is acknowledged on %s',
  (_name, platform) => {
    it.each(['warn', 'error'] as const)(
      "is not logged, does not stop the application, and is in the access map, with audit: '%s'",
      async (audit) => {
        const logger = new CapturedLog();
        const root = sampleApp({
          baseUrl: 'http://127.0.0.1:1',
          controllers: [Holidays],
          options: { audit },
        });
        const running = await startApp(platform, root, { logger });
        const [entry] = accessMapOf(running.app);
        await running.close();
        expect(logger.having('warn', 'audit')).toEqual([]);
        expect(entry).toMatchObject({
          call: 'GET /holidays',
          access: 'protected',
          acknowledged: 'the same for all users',
        });
      },
    );

    it('still stops the application if a rule is certain to have no effect', async () => {
      const root = sampleApp({ baseUrl: 'http://127.0.0.1:1', controllers: [Acknowledged] });
      await expect(startApp(platform, root)).rejects.toThrow(
        'Acknowledged.listForBosses overrides RuledList.listForBosses without its rule',
      );
    });
  },
);
