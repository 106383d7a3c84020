import { describe, expect, it } from '@jest/globals';
import {
  Injectable,
  Module,
  Controller,
  Get,
  UseGuards,
  type DynamicModule,
  type Type,
} from '@nestjs/common';
import {
  SessionAuthModule,
  fromPayload,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthEvents,
  SessionAuthService,
  SessionHttpService,
  type SessionAuthOptions,
  type SessionAuthOptionsFactory,
} from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { always } from '../support/always.js';
import { platforms } from '../support/platforms.js';
import { bootstrapError, MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';
import { CapturedLog } from '../support/captured-log.js';
import { describeOnNest12 } from '../support/nest-major.js';
import { SOCKET_LIBRARIES } from '../sockets/peers.js';

/** Where the options come from; the test sets the address of its service. */
@Injectable()
class Address {
  static baseUrl = '';
  readonly baseUrl = Address.baseUrl;
}

@Injectable()
class AsyncOptionsFactory implements SessionAuthOptionsFactory {
  constructor(private readonly address: Address) {}

  async createSessionAuthOptions(): Promise<SessionAuthOptions> {
    return Promise.resolve({ baseUrl: this.address.baseUrl, apiKey: 'application-key' });
  }
}

@Module({ providers: [Address, AsyncOptionsFactory], exports: [Address, AsyncOptionsFactory] })
class AddressModule {}

@Module({})
class Root {}

const REGISTRATIONS: Record<string, () => DynamicModule> = {
  'forRoot with a URL': () =>
    SessionAuthModule.forRoot({ baseUrl: new URL(Address.baseUrl), apiKey: 'application-key' }),
  'forRootAsync with a factory that is given providers': () =>
    SessionAuthModule.forRootAsync({
      imports: [AddressModule],
      inject: [Address],
      useFactory: ({ baseUrl }: Address) => ({ baseUrl, apiKey: 'application-key' }),
    }),
  'forRootAsync with a class that is given providers': () =>
    SessionAuthModule.forRootAsync({ imports: [AddressModule], useClass: AsyncOptionsFactory }),
  'forRootAsync with an existing provider': () =>
    SessionAuthModule.forRootAsync({ imports: [AddressModule], useExisting: AsyncOptionsFactory }),
};

const names = Object.keys(REGISTRATIONS);

describe.each(platforms('Fastify'))('a registration of the module on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(names)('checks sessions: %s', async (name) => {
    const service = await bed.service();
    Address.baseUrl = service.url;
    const app = await bed.app({
      module: Root,
      imports: [REGISTRATIONS[name]?.() ?? Root],
      controllers: [MeController],
    });

    expect((await app.get('/me', service.signInAs({}))).status).toBe(200);
    expect(await always(async () => (await app.get('/me')).status)).toBe(401);
    expect(service.requests[0]?.headers['x-api-key']).toBe('application-key');
  });
});

describe('a registration of the module without its options', () => {
  const broken = (useFactory: () => unknown): DynamicModule =>
    SessionAuthModule.forRootAsync({ useFactory: useFactory as () => SessionAuthOptions });

  it.each([
    ['gives nothing', () => undefined],
    ['gives bad options', () => ({ baseUrl: 'ftp://a.example', apiKey: 'key' })],
    ['gives an extra of the module', () => ({ baseUrl: 'http://a.example', apiKey: 'key', isGlobal: false })],
  ])('stops the bootstrap when its factory %s', async (_case, useFactory) => {
    const error = await bootstrapError({ module: Root, imports: [broken(useFactory)] });

    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toContain('SessionAuthModule: ');
  });

  it('rejects with the error of its factory', async () => {
    const failure = new Error('the configuration service is down');

    expect(await bootstrapError({ module: Root, imports: [broken(() => Promise.reject(failure))] })).toBe(
      failure,
    );
  });
});

@WebSocketGateway()
class PlainGateway {
  @SubscribeMessage('say') say(): unknown {
    return { event: 'answer', data: 'said' };
  }

  @SubscribeMessage('open') @Public() open(): unknown {
    return { event: 'answer', data: 'open' };
  }
}

// On NestJS 11 guards of the whole application do not reach gateways.
describeOnNest12.each(SOCKET_LIBRARIES)(
  'a gateway without a guard of its own on %s',
  (_name, adapter, connect) => {
    const bed = testbed();

    it('is guarded with the whole application, without a finding of the audit', async () => {
      const service = await bed.service();
      const logger = new CapturedLog();
      const options = { protectAllRoutes: true, token: fromPayload('token') };
      const sample = { baseUrl: service.url, options, providers: [PlainGateway], controllers: [] };
      const app = await bed.sample(sample, {
        logger,
        configure: (nest) => void nest.useWebSocketAdapter(adapter(nest)),
      });
      const peer = await connect(app.url, {});

      expect(await peer.ask('say')).toMatchObject([
        'exception',
        { statusCode: 401, code: 'SESSION_REQUIRED' },
      ]);
      expect(await peer.ask('say', { token: service.signInAs({}) })).toEqual(['answer', 'said']);
      expect(await peer.ask('open')).toEqual(['answer', 'open']);
      expect(logger.having('warn', 'audit')).toEqual([]);
      await peer.close();
    });
  },
);

@Injectable()
class Door {
  constructor(readonly sessions: SessionAuthService) {}
}

@Controller('feature')
@UseGuards(SessionAuthGuard)
class FeatureController {
  constructor(private readonly door: Door) {}

  @Get()
  async show(): Promise<string | undefined> {
    return (await this.door.sessions.verify('token')).username;
  }
}

@Controller('plain')
class PlainController {
  @Get()
  plain(): string {
    return 'plain';
  }

  @Get('public')
  @Public()
  public(): string {
    return 'public';
  }
}

@Module({ controllers: [FeatureController], providers: [Door] })
class FeatureModule {}

@Module({})
class ImportingFeatureModule {}

const sessionAuth = (
  baseUrl: string,
  extras: { isGlobal?: boolean; protectAllRoutes?: boolean } = {},
): DynamicModule => SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', ...extras });

const importing = (auth: DynamicModule): DynamicModule => ({
  module: ImportingFeatureModule,
  imports: [auth],
  controllers: [FeatureController],
  providers: [Door],
});

describe.each(platforms('Fastify'))('the reach of the module on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('is every feature module, without an import', async () => {
    const service = await bed.service();
    service.signInAs({}, 'token');
    const app = await bed.app({ module: Root, imports: [sessionAuth(service.url), FeatureModule] });

    expect((await app.get('/feature', 'token')).status).toBe(200);
    expect(await always(async () => (await app.get('/feature')).status)).toBe(401);
  });

  it('is the modules that import it, with `isGlobal: false`', async () => {
    const service = await bed.service();
    service.signInAs({}, 'token');
    const auth = sessionAuth(service.url, { isGlobal: false });
    const app = await bed.app({ module: Root, imports: [importing(auth)], controllers: [PlainController] });

    expect((await app.get('/feature', 'token')).status).toBe(200);
    expect(await always(async () => (await app.get('/feature')).status)).toBe(401);
    expect((await app.get('/plain')).status).toBe(200);
  });

  it('leaves a route without a guard open', async () => {
    const service = await bed.service();
    const app = await bed.app({
      module: Root,
      imports: [sessionAuth(service.url)],
      controllers: [PlainController],
    });

    expect((await app.get('/plain')).status).toBe(200);
  });

  it.each([true, false])(
    'is every route, with `protectAllRoutes` (isGlobal: %p), but those marked @Public',
    async (isGlobal) => {
      const service = await bed.service();
      service.signInAs({}, 'token');
      const auth = sessionAuth(service.url, { isGlobal, protectAllRoutes: true });
      const app = await bed.app({
        module: Root,
        imports: [auth, importing(auth)],
        controllers: [PlainController],
      });
      const ask = async (path: string, token?: string): Promise<number> =>
        always(async () => (await app.get(path, token)).status);

      expect([await ask('/plain'), await ask('/plain', 'bad'), await ask('/feature')]).toEqual([
        401, 401, 401,
      ]);
      expect([await ask('/plain', 'token'), await ask('/feature', 'token')]).toEqual([200, 200]);
      expect([await ask('/plain/public'), await ask('/nowhere')]).toEqual([200, 404]);
    },
  );
});

@Controller('ruled')
class RuledController {
  @Get() @Roles('boss') ruled(): string {
    return 'ruled';
  }
}

@Module({ controllers: [RuledController] })
class RuledModule {}

@Controller('guarded')
@UseGuards(SessionAuthGuard)
class GuardedController {
  @Get() guarded(): string {
    return 'guarded';
  }
}

@Injectable()
class OwnGuard extends SessionAuthGuard {}

@Controller('extended')
@UseGuards(OwnGuard)
class ExtendedController {
  @Get() extended(): string {
    return 'extended';
  }
}

@Module({ controllers: [ExtendedController] })
class ExtendingModule {}

describe('an application whose module has a guard or a rule and does not reach `SessionAuthModule`', () => {
  const scoped = sessionAuth('http://127.0.0.1:9', { isGlobal: false });
  const closed = sessionAuth('http://127.0.0.1:9', { isGlobal: false, protectAllRoutes: true });

  const guarded = { module: ImportingFeatureModule, controllers: [GuardedController] };

  it.each<[string, string, DynamicModule]>([
    [
      'a rule, `isGlobal: false` and `protectAllRoutes`',
      'RuledModule',
      { module: Root, imports: [closed, RuledModule] },
    ],
    ['a guard, and no registration', 'ImportingFeatureModule', { module: Root, imports: [guarded] }],
    [
      'a guard of its own that extends the guard',
      'ExtendingModule',
      { module: Root, imports: [scoped, ExtendingModule] },
    ],
  ])(
    'does not start with %s, and the error names the module and the import that it lacks',
    async (_case, name, root) => {
      const error = await bootstrapError(root);

      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect(error.message).toBe(
        `${name} has SessionAuthGuard, or a rule such as @Roles(), and does not reach SessionAuthModule. Import SessionAuthModule.forRoot() in the root module; with isGlobal: false, import that registration here too. In a unit test, use overrideGuard(SessionAuthGuard), or TestSessions of nestjs-session-auth/testing.`,
      );
    },
  );

  it('does not start where a provider injects the service', async () => {
    expect((await bootstrapError({ module: Root, imports: [FeatureModule] })).message).toMatch(
      /can't resolve dependencies of the Door [^]* SessionAuthService at index|FeatureModule has SessionAuthGuard/,
    );
  });

  it.each([SessionAuthService, SessionAuthEvents, SessionHttpService as unknown as Type])(
    'does not start where a module provides %p itself, and the error says so',
    async (own) => {
      const error = await bootstrapError({ module: Root, imports: [scoped], providers: [own] });

      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect(error.message).toBe(
        `${own.name} is among the providers of a module. Remove it there: SessionAuthModule provides it. In a unit test, write { provide: ${own.name}, useValue: yourMock }.`,
      );
    },
  );

  it('does not start with a bad option, and the error names the option, not a missing import', async () => {
    const root = {
      module: Root,
      imports: [sessionAuth('ftp://sessions.example.com'), guarded, RuledModule],
    };
    expect((await bootstrapError(root)).message).toContain('baseUrl must start with http:// or https://');
  });

  it('starts when the module is imported there', async () => {
    const root = {
      module: Root,
      imports: [
        scoped,
        { module: ImportingFeatureModule, imports: [scoped], controllers: [RuledController] },
      ],
    };
    await expect(bootstrapError(root)).rejects.toThrow('The application started');
  });
});
