import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, type INestApplication, type Type } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authorize, Public, Roles, SessionAuthGuard, type SessionAuthExtras, type SessionAuthOptions } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { itOnNest12 } from '../support/nest-major.js';
import { startApp, PLATFORMS } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';

const BASE_URL = 'http://127.0.0.1:1';

@Controller()
@Roles('boss')
class UnguardedController {
  @Get()
  list(): string {
    return 'list';
  }

  @Get('about')
  @Public()
  about(): string {
    return 'about';
  }
}

class OwnGuard extends SessionAuthGuard {}

@Controller()
@UseGuards(OwnGuard)
class GuardedController {
  @Get()
  @Roles('boss')
  list(): string {
    return 'list';
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
class ContradictoryController {
  @Get()
  @Public()
  @Authorize(() => true)
  list(): string {
    return 'list';
  }
}

@WebSocketGateway()
class ChatGateway {
  @SubscribeMessage('say')
  say(): string {
    return 'said';
  }

  @SubscribeMessage('shout')
  @UseGuards(SessionAuthGuard)
  shout(): string {
    return 'shouted';
  }
}

@Resolver('Opening')
class OpeningsResolver {
  @Query('openings')
  @Roles('boss')
  openings(): string[] {
    return [];
  }

  @ResolveField('salary')
  @UseGuards(SessionAuthGuard)
  @Roles('boss')
  salary(): number {
    return 1;
  }
}

/** As GraphQLModule provides its options. */
const graphql = (fieldResolverEnhancers?: string[]) => ({ provide: 'GqlModuleOptions', useValue: { fieldResolverEnhancers } });

interface Setup {
  readonly controllers?: Type[];
  readonly providers?: NonNullable<Parameters<typeof sampleApp>[0]['providers']>;
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  configure?(app: INestApplication): void;
}

/** The warnings of an application at its bootstrap, or the error that stops it. */
async function audited({ controllers = [], providers = [], options = {}, ...setup }: Setup): Promise<string[] | Error> {
  const logger = new CapturedLog();
  const root = sampleApp({ baseUrl: BASE_URL, options, controllers, providers });
  const app = await startApp(PLATFORMS[0][1], root, { ...setup, logger }).catch((error: unknown) => error as Error);
  if (app instanceof Error) return app;
  await app.close();
  return logger.having('warn', 'audit');
}

const matching = (...parts: string[]) => parts.map((part) => expect.stringContaining(part) as unknown as string);

describe('the audit at bootstrap', () => {
  it('warns of each handler that names roles and has no guard, and names the remedy', async () => {
    expect(await audited({ controllers: [UnguardedController] })).toEqual(
      matching('UnguardedController.list says who may enter, and nobody asks: it has no guard. Add @UseGuards(SessionAuthGuard)'),
    );
  });

  it.each<[string, Setup]>([
    ['its own guard, or one that extends it', { controllers: [GuardedController] }],
    ['the guard on the whole application', { controllers: [UnguardedController], options: { protectAllRoutes: true } }],
    [
      'the guard given to the application before it listens',
      { controllers: [UnguardedController], configure: (app) => app.useGlobalGuards(app.get(SessionAuthGuard)) },
    ],
  ])('says nothing of a handler that has %s', async (_name, setup) => {
    expect(await audited(setup)).toEqual([]);
  });

  it('warns of a handler that is opened and closed at once', async () => {
    expect(await audited({ controllers: [ContradictoryController] })).toEqual(
      matching('ContradictoryController.list has @Public() beside decorators that require something, and opens nothing'),
    );
  });

  it('says nothing of a message that requires nothing', async () => {
    expect(await audited({ providers: [ChatGateway] })).toEqual([]);
  });

  itOnNest12('says nothing of a message that the guard of the whole application reaches', async () => {
    expect(await audited({ providers: [ChatGateway], options: { protectAllRoutes: true, audit: 'error' } })).toEqual([]);
  });

  it('warns of resolvers as of handlers, and of fields that GraphQL asks no guard about', async () => {
    expect(await audited({ providers: [OpeningsResolver, graphql()] })).toEqual(
      matching(
        'OpeningsResolver.openings says who may enter',
        'OpeningsResolver.salary says who may read this field, and GraphQL asks no guard',
      ),
    );
    const options = { protectAllRoutes: true };
    expect(await audited({ providers: [OpeningsResolver, graphql(['guards'])], options })).toEqual([]);
  });

  it('stops the application where it is to be an error, with all that it found', async () => {
    const error = await audited({ controllers: [UnguardedController, ContradictoryController], options: { audit: 'error' } });
    expect(error).toMatchObject({ name: 'InvalidConfigurationError' });
    expect(String(error)).toMatch(/UnguardedController[.]list[^]*ContradictoryController[.]list/);
  });

  it('says nothing where it is off', async () => {
    expect(await audited({ controllers: [UnguardedController], options: { audit: 'off' } })).toEqual([]);
  });
});
