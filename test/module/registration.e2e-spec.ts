import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Module,
  UseGuards,
  type DynamicModule,
  type Provider,
  type Type,
} from '@nestjs/common';
import {
  Public,
  Roles,
  SessionAuthEvents,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  SessionHttpService,
  type SessionAuthExtras,
  type SessionAuthOptions,
  type SessionAuthOptionsFactory,
} from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { always } from '../support/always.js';
import { platforms } from '../support/platforms.js';
import { bootstrapError, MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

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

const imports = [AddressModule];
const useFactory = ({ baseUrl }: Address) => ({ baseUrl, apiKey: 'application-key' });
const REGISTRATIONS: Record<string, () => DynamicModule> = {
  'a factory that is given providers': () =>
    SessionAuthModule.forRootAsync({ imports, inject: [Address], useFactory }),
  'a class that is given providers': () =>
    SessionAuthModule.forRootAsync({ imports, useClass: AsyncOptionsFactory }),
  'an existing provider': () => SessionAuthModule.forRootAsync({ imports, useExisting: AsyncOptionsFactory }),
};

describe('options of a registration', () => {
  const bed = testbed();

  it.each(Object.entries(REGISTRATIONS))('may come from %s', async (_name, registration) => {
    const service = await bed.service();
    Address.baseUrl = service.url;
    const root = { module: Root, imports: [registration()], controllers: [MeController] };
    const app = await bed.app(root);
    expect((await app.get('/me', service.signInAs({}))).status).toBe(200);
    expect(await always(async () => (await app.get('/me')).status)).toBe(401);
    expect(service.requests[0]?.headers['x-api-key']).toBe('application-key');
  });

  it('stop the bootstrap if a factory gives bad ones, or fails', async () => {
    const failure = new Error('the configuration service is down');
    const errorOf = (given: () => unknown): Promise<Error> => {
      const registration = SessionAuthModule.forRootAsync({ useFactory: given as () => SessionAuthOptions });
      return bootstrapError({ module: Root, imports: [registration] });
    };
    const error = await errorOf(() => ({ baseUrl: 'ftp://a.example', apiKey: 'key' }));
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toContain('SessionAuthModule: ');
    expect(await errorOf(() => Promise.reject(failure))).toBe(failure);
  });
});

@Injectable()
class Door {
  constructor(readonly sessions: SessionAuthService) {}
}

@Controller('feature')
@UseGuards(SessionAuthGuard)
class FeatureController {
  constructor(private readonly door: Door) {}

  @Get() async show(): Promise<string | undefined> {
    return (await this.door.sessions.verify('token')).username;
  }
}

@Controller('plain')
class PlainController {
  @Get() plain(): string {
    return 'plain';
  }

  @Get('public') @Public() public(): string {
    return 'public';
  }
}

@Module({ controllers: [FeatureController], providers: [Door] })
class FeatureModule {}

@Module({})
class ImportingFeatureModule {}

const sessionAuth = (baseUrl: string, extras: SessionAuthExtras = {}): DynamicModule =>
  SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', ...extras });

const importing = (auth: DynamicModule): DynamicModule => ({
  module: ImportingFeatureModule,
  imports: [auth],
  controllers: [FeatureController],
  providers: [Door],
});

describe.each(platforms('Fastify'))('the reach of the module on %s', (_name, platform) => {
  const bed = testbed(platform);

  /** The statuses of a guarded feature, with and without a session, and of a route without a guard. */
  async function statusesOf(modulesFor: (baseUrl: string) => NonNullable<DynamicModule['imports']>) {
    const service = await bed.service();
    service.signInAs({}, 'token');
    const controllers = [PlainController];
    const app = await bed.app({ module: Root, imports: modulesFor(service.url), controllers });
    return [
      (await app.get('/feature', 'token')).status,
      await always(async () => (await app.get('/feature')).status),
      (await app.get('/plain')).status,
    ];
  }

  it('is every feature module without an import, and no route without a guard', async () => {
    expect(await statusesOf((baseUrl) => [sessionAuth(baseUrl), FeatureModule])).toEqual([200, 401, 200]);
  });

  it.each([true, false])(
    'is every route, with `protectAllRoutes` (isGlobal: %p), but those marked @Public',
    async (isGlobal) => {
      const service = await bed.service();
      service.signInAs({}, 'token');
      const auth = sessionAuth(service.url, { isGlobal, protectAllRoutes: true });
      const root = { module: Root, imports: [auth, importing(auth)], controllers: [PlainController] };
      const app = await bed.app(root);
      const ask = async (path: string, token?: string): Promise<number> =>
        always(async () => (await app.get(path, token)).status);
      const denied = [await ask('/plain'), await ask('/plain', 'bad'), await ask('/feature')];
      expect(denied).toEqual([401, 401, 401]);
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
  const OUT_OF_REACH = 'http://127.0.0.1:9';
  const scoped = sessionAuth(OUT_OF_REACH, { isGlobal: false });
  const closed = sessionAuth(OUT_OF_REACH, { isGlobal: false, protectAllRoutes: true });

  it.each<[string, Type, DynamicModule[]]>([
    ['a rule, `isGlobal: false` and `protectAllRoutes`', RuledModule, [closed]],
    ['a guard of its own that extends the guard', ExtendingModule, [scoped]],
    ['a rule, and no registration', RuledModule, []],
  ])('does not start with %s, and the error says what to import', async (_case, module, registrations) => {
    const error = await bootstrapError({ module: Root, imports: [...registrations, module] });
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toBe(
      `${module.name} has SessionAuthGuard, or a rule such as @Roles(), and does not reach SessionAuthModule. Import SessionAuthModule.forRoot() in the root module; with isGlobal: false, import that registration here too. In a unit test, use overrideGuard(SessionAuthGuard), or TestSessions of nestjs-session-auth/testing.`,
    );
  });

  it.each([SessionAuthService, SessionAuthEvents, SessionHttpService] as Provider[] as Type[])(
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
    const root = { module: Root, imports: [sessionAuth('ftp://sessions.example.com'), RuledModule] };
    expect((await bootstrapError(root)).message).toContain('baseUrl must start with http:// or https://');
  });
});
