import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  InjectSessionAuth,
  SessionAuthEvents,
  SessionAuthModule,
  SessionAuthority,
  SessionAuthService,
  SessionHttpService,
  type SessionAuthExtras,
  type SessionAuthOptions,
  type SessionAuthPlugin,
  type SessionAuthOptionsFactory,
} from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { sessionSockets, SessionSockets } from 'nestjs-session-auth/sockets';
import { CapturedLog } from '../support/captured-log.js';
import { bootstrapError } from '../support/sample-app.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'application-key' };

const main = (more: Partial<SessionAuthOptions & SessionAuthExtras> = {}): DynamicModule =>
  SessionAuthModule.forRoot({ ...OPTIONS, ...more });
const partners = (more: Partial<SessionAuthOptions & SessionAuthExtras> = {}): DynamicModule =>
  main({ name: 'partners', ...more });

@Module({})
class Root {}
@Module({})
class Feature {}

const root = (
  imports: (DynamicModule | Type)[],
  controllers: Type[] = [],
  providers: Type[] = [],
): DynamicModule => ({
  module: Root,
  imports,
  controllers,
  providers,
});

@SessionAuthority('suppliers')
@Controller()
class SuppliersController {}

@SessionAuthority('suppliers')
@Injectable()
class SuppliersProvider {}

@SessionAuthority('default')
@Controller()
class DefaultController {}

@Controller()
class ListController {
  @Get()
  @SessionAuthority('suppliers')
  list(): string {
    return 'list';
  }
}

async function stopOf(definition: DynamicModule): Promise<string> {
  const error = await bootstrapError(definition);
  expect(error).toBeInstanceOf(InvalidConfigurationError);
  return error.message;
}

describe('the start of an application with several session services', () => {
  it('is stopped by two authorities with one name', async () => {
    expect(await stopOf(root([main(), partners(), { module: Feature, imports: [partners()] }]))).toContain(
      "SessionAuthModule has two authorities with the name 'partners'.",
    );
  });

  it('is stopped by a decorator with a name that is not registered', async () => {
    const missing =
      "has @SessionAuthority('suppliers'), which is not registered. Import SessionAuthModule.forRoot({ name: 'suppliers'";

    expect(await stopOf(root([main(), partners()], [SuppliersController]))).toContain(
      `SuppliersController ${missing}`,
    );
    expect(await stopOf(root([main(), partners()], [ListController]))).toContain(
      `ListController.list ${missing}`,
    );
    expect(await stopOf(root([main()], [], [SuppliersProvider]))).toContain(`SuppliersProvider ${missing}`);
  });

  it('is stopped without a default authority', async () => {
    expect(await stopOf(root([partners(), main({ name: 'staff' })]))).toContain(
      "SessionAuthModule has no default authority, which checks the handlers without @SessionAuthority(). Leave out name: 'partners' or 'staff'.",
    );
  });

  it.each<[string, DynamicModule, string]>([
    [
      'protectAllRoutes',
      partners({ protectAllRoutes: true }),
      "SessionAuthModule 'partners': protectAllRoutes is in a named authority.",
    ],
    [
      'authority',
      partners({ authority: () => 'default' }),
      "SessionAuthModule 'partners': authority is in a named authority.",
    ],
    ['a missing key', partners({ apiKey: '' }), "SessionAuthModule 'partners': apiKey is missing."],
    [
      'an unknown identity field',
      partners({ identityFields: ['nick' as 'email'] }),
      "SessionAuthModule 'partners': identityFields names 'nick'",
    ],
    [
      'a name among the options of a factory',
      SessionAuthModule.forRootAsync({
        name: 'partners',
        useFactory: () => ({ ...OPTIONS, name: 'partners' }),
      }),
      "SessionAuthModule 'partners': options.name is among the options that forRootAsync() has received. Set name beside useFactory",
    ],
  ])('is stopped by %s of a named authority', async (_case, registration, message) => {
    expect(await stopOf(root([main(), registration]))).toContain(message);
  });

  it('is not stopped by one authority that two modules import, nor by the name of the default authority', async () => {
    const shared = partners();

    await expect(
      bootstrapError(
        root(
          [main({ name: 'default' }), shared, { module: Feature, imports: [shared] }],
          [DefaultController],
        ),
      ),
    ).rejects.toThrow('The application started');
  });

  it('is stopped where two decorators of one handler name different authorities', () => {
    const declare = (): unknown => {
      class Both {
        @SessionAuthority('partners')
        @SessionAuthority('suppliers')
        list(): string {
          return 'list';
        }
      }
      return Both;
    };
    expect(declare).toThrow(
      new InvalidConfigurationError(
        "@SessionAuthority('partners') is beside @SessionAuthority('suppliers'). Remove one of them.",
      ),
    );
    expect(() => SessionAuthority('')).toThrow(InvalidConfigurationError);
  });
});

@SessionAuthority('partners')
@WebSocketGateway()
class MixedGateway {
  constructor(readonly sockets: SessionSockets) {}

  @SubscribeMessage('say') say(): string {
    return 'said';
  }
}

@WebSocketGateway()
class ForeignGateway {
  @InjectSessionAuth('partners', SessionSockets) readonly sockets!: SessionSockets;

  @SubscribeMessage('say') say(): string {
    return 'said';
  }
}

@SessionAuthority('partners')
@WebSocketGateway()
class PartnersGateway {
  constructor(@InjectSessionAuth('partners', SessionSockets) readonly sockets: SessionSockets) {}
}

describe('the start of an application with gateways', () => {
  it('is stopped by a gateway whose handshakes and messages would be checked by two session services', async () => {
    const plugins = [sessionSockets];
    const registrations = [main({ plugins }), partners({ plugins })];
    expect(await stopOf(root(registrations, [], [MixedGateway]))).toContain(
      "MixedGateway has SessionSockets of the authority 'default', and its messages are checked by 'partners'.",
    );
    expect(await stopOf(root(registrations, [], [ForeignGateway]))).toContain(
      "ForeignGateway has SessionSockets of the authority 'partners', and its messages are checked by 'default'.",
    );
    await expect(bootstrapError(root(registrations, [], [PartnersGateway]))).rejects.toThrow(
      'The application started',
    );
  });

  it.each<[string, Type, SessionAuthPlugin[], string]>([
    ['no authority', MixedGateway, [], 'MixedGateway'],
    ['another authority', PartnersGateway, [sessionSockets], 'PartnersGateway'],
  ])('is stopped if the plugin is named by %s, with its name', async (_which, gateway, plugins, name) => {
    expect(await stopOf(root([main({ plugins }), partners()], [], [gateway]))).toBe(
      `${name} needs SessionSockets, which SessionAuthModule does not provide here. Add sessionSockets of nestjs-session-auth/sockets to plugins in its options.`,
    );
  });

  it('is stopped by two authorities that protect one server', async () => {
    const plugins = [sessionSockets];
    const module = root([main({ plugins }), partners({ plugins })]);
    const context = await NestFactory.createApplicationContext(module, {
      logger: false,
      abortOnError: false,
    });
    const server = { options: {}, handleUpgrade: () => undefined, prependListener: () => undefined };
    context.get(SessionSockets).protect(server);
    const other = context.get<SessionSockets>(SessionAuthModule.getToken('partners', SessionSockets));

    expect(() => other.protect(server)).toThrow(InvalidConfigurationError);
    expect(() => other.protect(server)).toThrow(
      "by two authorities of SessionAuthModule: 'default' and 'partners'",
    );
    await context.close();
  });
});

@Injectable()
class Partners {
  @InjectSessionAuth('default') readonly own!: SessionAuthService;

  constructor(
    @InjectSessionAuth('partners') readonly service: SessionAuthService,
    @InjectSessionAuth('partners', SessionAuthEvents) readonly events: SessionAuthEvents,
    @InjectSessionAuth('partners', SessionHttpService) readonly http: SessionHttpService,
  ) {}
}

@Injectable()
class PartnerOptions implements SessionAuthOptionsFactory {
  static baseUrl = '';
  createSessionAuthOptions(): SessionAuthOptions {
    return { ...OPTIONS, baseUrl: PartnerOptions.baseUrl };
  }
}

describe('a named authority', () => {
  const bed = testbed();
  const started = (imports: DynamicModule[]): Promise<INestApplicationContext> =>
    NestFactory.createApplicationContext(root(imports, [], [Partners]), {
      logger: false,
      abortOnError: false,
    });

  it.each<[string, (baseUrl: string) => DynamicModule]>([
    ['forRoot', (baseUrl) => partners({ baseUrl })],
    [
      'a factory',
      (baseUrl) =>
        SessionAuthModule.forRootAsync({ name: 'partners', useFactory: () => ({ ...OPTIONS, baseUrl }) }),
    ],
    ['a class', () => SessionAuthModule.forRootAsync({ name: 'partners', useClass: PartnerOptions })],
  ])('is injected in every module by its name: %s', async (_case, registration) => {
    const service = await bed.service();
    PartnerOptions.baseUrl = service.url;
    const context = await started([main(), registration(service.url)]);
    const { own, service: sessions, events, http } = context.get(Partners);

    expect((await sessions.verify(service.signInAs({ username: 'bob' }))).username).toBe('bob');
    expect(own).toBe(context.get(SessionAuthService));
    expect(sessions).not.toBe(own);
    expect(events).not.toBe(context.get(SessionAuthEvents));
    expect(http).not.toBe(await context.resolve(SessionHttpService));
    expect(SessionAuthModule.getToken('default', SessionAuthEvents)).toBe(SessionAuthEvents);
    await context.close();
  });

  it('is injected only where it is imported, with isGlobal: false', async () => {
    const here = partners({ isGlobal: false });

    await expect(
      bootstrapError(root([main(), { module: Feature, imports: [here], providers: [Partners] }])),
    ).rejects.toThrow('started');
    expect(
      (
        await bootstrapError({
          ...root([main(), { module: Feature, imports: [here] }]),
          providers: [Partners],
        })
      ).message,
    ).toContain('SessionAuthService@partners');
  });

  it('is named in its warnings', async () => {
    const service = await bed.serviceThat(reply(404, 'not here'));
    const log = new CapturedLog();
    const context = await NestFactory.createApplicationContext(
      root([main(), partners({ baseUrl: service.url })], [], [Partners]),
      {
        logger: log,
      },
    );
    await context
      .get(Partners)
      .service.verify('some-token')
      .catch(() => undefined);

    expect(
      log.having('warn', 'partners: unexpected reply: the session service answered 404 with a body'),
    ).toHaveLength(1);
    await context.close();
  });
});
