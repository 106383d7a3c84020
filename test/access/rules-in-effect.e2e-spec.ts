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
  SubRoles,
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
@Roles('boss')
class RuledClass {
  @Query('openings') openingsForBosses(): number[] {
    visit('RuledClass.openingsForBosses');
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

@Resolver()
class Stricter extends Ruled {
  @Query('openings') @Roles('boss') @SubRoles('approver') override openingsForBosses(): number[] {
    return super.openingsForBosses();
  }
}

@Resolver()
class BindingResolver extends Ruled {
  constructor() {
    super();
    this.openingsForBosses = this.openingsForBosses.bind(this);
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

@Controller('list')
class OverridingTwice extends Overriding {
  @Get() override listForBosses(): string {
    return visit('OverridingTwice.listForBosses');
  }
}

/** As a tracing package does: another function in the place of the method, without its metadata. */
function wrapped(_target: object, _name: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as () => string;
  descriptor.value = function traced(this: unknown): string {
    return method.call(this);
  };
}

function wrappedWithCare(target: object, name: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as object;
  wrapped(target, name, descriptor);
  for (const key of Reflect.getMetadataKeys(method))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), descriptor.value as object);
}

@Controller('list')
class Wrapped {
  @Get() @wrapped @Roles('boss') listForBosses(): string {
    return visit('Wrapped.listForBosses');
  }
}

@Controller('list')
class WrappedBetween {
  @Get() @Authorize(() => true) @wrapped @Roles('boss') listForBosses(): string {
    return visit('WrappedBetween.listForBosses');
  }
}

@Controller('list')
class Bound extends RuledList {
  constructor() {
    super();
    this.listForBosses = this.listForBosses.bind(this);
  }
}

@Controller('list')
class Replacing extends RuledList {
  constructor() {
    super();
    this.listForBosses = () => visit('Replacing.listForBosses');
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
class WrappedWithCare {
  @Get() @wrappedWithCare @Roles('boss') listForBosses(): string {
    return visit('WrappedWithCare.listForBosses');
  }
}

@Controller('list')
@Roles('boss')
class RuledByClass extends RuledList {
  @Get() override listForBosses(): string {
    return visit('RuledByClass.listForBosses');
  }
}

@Controller('list')
class Opening extends RuledList {
  @Get() @Public() override listForBosses(): string {
    return 'public';
  }
}

@Controller('list')
class Loosening extends RuledList {
  @Get() @UseGuards(SessionAuthGuard) override listForBosses(): string {
    return 'any session';
  }
}

@Controller('list')
class Hiding extends RuledList {
  override listForBosses(): string {
    return visit('Hiding.listForBosses');
  }
}

@Controller('list')
@Roles('boss')
class BoundByClass {
  constructor() {
    this.listForBosses = this.listForBosses.bind(this);
  }

  @Get() listForBosses(): string {
    return visit('BoundByClass.listForBosses');
  }
}

abstract class Listing {
  abstract find(): string;

  @Get() @Roles('boss') listForBosses(): string {
    return this.find();
  }
}

function listingOf(name: string): Type {
  @Controller('list')
  class Mixin extends Listing {
    override find(): string {
      return visit(name);
    }
  }
  return Mixin;
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
class BindingGateway extends RuledGateway {
  constructor() {
    super();
    this.sayForBosses = this.sayForBosses.bind(this);
  }
}

@WebSocketGateway()
class SecondGateway {
  @SubscribeMessage('say') sayForBosses(): unknown {
    visit('SecondGateway.sayForBosses');
    return SAID;
  }
}

@WebSocketGateway()
class PublicGateway {
  @SubscribeMessage('say') @Public() say(): void {
    visit('PublicGateway.say');
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
    [
      'a resolver by useFactory under another token',
      resolving([{ provide: 'openings', useFactory: () => new Ruled() }]),
      'Ruled',
    ],
    ['a resolver by useValue', resolving([{ provide: Ruled, useValue: new Ruled() }]), 'Ruled'],
    [
      'a class with a rule by useFactory',
      resolving([{ provide: RuledClass, useFactory: () => new RuledClass() }]),
      'RuledClass',
    ],
    ['a resolver beside its base class, which Nest maps', resolving([Derived, Base]), 'Derived'],
  ])('does not start with %s [P31]', async (_case, create, name) => {
    const outcome = await outcomeOf(create, await bed.service(), platform);
    expect(outcome).toMatchObject({ named: [`${name}.openingsForBosses`], isStoppedByDefault: true });
    expect(outcome.open).toHaveLength(1);
  });

  it.each<[string, () => AuditedApp, string]>([
    ['a method that overrides one with a rule, and has none', listing(Overriding), 'Overriding'],
    ['the same in an application that is closed by default', listing(Overriding, closed), 'Overriding'],
    [
      'a method that overrides one that overrides one with a rule',
      listing(OverridingTwice),
      'OverridingTwice',
    ],
    ['a decorator that wraps the handler above its rule', listing(Wrapped), 'Wrapped'],
    ['the same in an application that is closed by default', listing(Wrapped, closed), 'Wrapped'],
    ['a decorator that wraps the handler between two rules', listing(WrappedBetween), 'WrappedBetween'],
    ['a constructor that binds a handler with a rule', listing(Bound), 'Bound'],
    ['a constructor that replaces a handler', listing(Replacing, closed), 'Replacing'],
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

  it.each<[string, () => AuditedApp, string]>([
    ['a controller that is closed by default', listing(Bound, closed), 'Bound.listForBosses'],
    ['a resolver', resolving([BindingResolver]), 'BindingResolver.openingsForBosses'],
    ['a gateway', talking(BindingGateway), 'BindingGateway.sayForBosses'],
  ])(
    'does not start with a constructor that binds a handler with a rule, and says what to do: %s [P32]',
    async (_what, create, name) => {
      const audited = create();
      const root = sampleApp({ baseUrl: 'http://127.0.0.1:1', controllers: [], ...audited });
      const startAndClose = async (): Promise<void> =>
        (await startApp(platform, root, { configure: (app) => audited.configure?.(app) })).close();
      await expect(startAndClose()).rejects.toThrow(
        new RegExp(`${name} may lose its rule: .* Do not bind or replace the method in the constructor`),
      );
    },
  );

  it.each<[string, () => AuditedApp, string[]]>([
    [
      'a resolver by useClass',
      resolving([{ provide: 'openings', useClass: Ruled }]),
      ['Ruled.openingsForBosses'],
    ],
    [
      'an alias of a resolver',
      resolving([Ruled, { provide: 'alias', useExisting: Ruled }]),
      ['Ruled.openingsForBosses'],
    ],
    [
      'a resolver by useFactory, closed by default',
      resolving([{ provide: Ruled, useFactory: () => new Ruled() }], closed),
      ['Ruled.openingsForBosses'],
    ],
    [
      'a policy of a resolver by useFactory',
      resolving([OnlyBosses, { provide: 'openings', useFactory: () => new WithPolicy() }], closed),
      ['WithPolicy.openingsForBosses'],
    ],
    ['a resolver that replaces its base class', resolving([Base, Derived]), ['Derived.openingsForBosses']],
    ['a resolver that replaces its base class with a rule', resolving([Ruled, Stricter]), []],
    [
      'a value of another class',
      resolving([Ruled, { provide: 'settings', useValue: new Map() }]),
      ['Ruled.openingsForBosses'],
    ],
    ['a wrapper that copies the metadata', listing(WrappedWithCare), ['WrappedWithCare.listForBosses']],
    ['an override under the same rule of its class', listing(RuledByClass), ['RuledByClass.listForBosses']],
    ['an override that is public', listing(Opening), []],
    ['an override with another rule', listing(Loosening), []],
    ['an override that is no handler', listing(Hiding), []],
    ['a bound handler under a rule of its class', listing(BoundByClass), ['BoundByClass.listForBosses']],
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
    ['a mixin of an abstract class', listing(listingOf('Mixin.listForBosses')), ['Mixin.listForBosses']],
    [
      'a second gateway that is public',
      talking(RuledGateway, PublicGateway),
      ['PublicGateway.say', 'RuledGateway.sayForBosses'],
    ],
    [
      'a second gateway in another namespace',
      talking(RuledGateway, OtherNamespace),
      ['RuledGateway.sayForBosses'],
    ],
    [
      'a gateway by useClass',
      talking({ provide: 'gateway', useClass: RuledGateway }),
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
    ['by useValue under another token', [{ provide: 'openings', useValue: new Ruled() }], 'Ruled'],
    ['beside its base class', [Derived, Base], 'Base'],
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
