import { afterAll, describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  Module,
  Post,
  RequestMethod,
  UseGuards,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
  type INestApplication,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { Field, GraphQLModule, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  Authorize,
  CclScope,
  FreshSession,
  OptionalAuth,
  Public,
  RequireFlags,
  Roles,
  SessionAuthGuard,
  SubRoles,
} from 'nestjs-session-auth';
import { accessMapOf, findOpenHandlers, type AccessMapEntry } from 'nestjs-session-auth/testing';
import { platforms, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp, type SampleApp } from '../support/sample-app.js';

class OwnsOpening {
  allows(): boolean {
    return false;
  }
}

@Controller('openings')
class OpeningsController {
  @Get() list(): string {
    return 'openings';
  }

  @Get(['about', 'info']) @Public() about(): string {
    return 'about';
  }

  @Get('news') @OptionalAuth() news(): string {
    return 'news';
  }

  @Get('rules/:clientId')
  @Roles('hiring_manager', 'boss')
  @SubRoles('approver')
  @RequireFlags('ats_enabled')
  @CclScope({ client_id: 'clientId' })
  @Authorize(OwnsOpening)
  @Authorize(() => false)
  @FreshSession({ maxAgeMs: 1000 })
  rules(): string {
    return 'rules';
  }

  @Post()
  @UseGuards(SessionAuthGuard)
  @MessagePattern({ cmd: 'add' })
  add(): string {
    return 'added';
  }

  @EventPattern('happened')
  @Public()
  happened(data: unknown): void {
    expect(data).toBeDefined();
  }
}

@WebSocketGateway({ namespace: 'feed' })
class FeedGateway {
  @SubscribeMessage('ask') ask(): string {
    return 'answer';
  }
}

@ObjectType()
class Opening {
  @Field() readonly id: string = '1';
}

@Resolver(() => Opening)
class OpeningsResolver {
  @Query(() => Opening)
  @Roles('boss')
  opening(): Opening {
    return new Opening();
  }

  @ResolveField(() => String)
  @Roles('boss')
  salary(): string {
    return 'much';
  }
}

@Resolver()
class FeaturedResolver {
  @Query(() => Opening)
  @Public()
  featured(): Opening {
    return new Opening();
  }
}

@Module({ providers: [FeaturedResolver] })
class PublicModule {}

@Module({ imports: [PublicModule], providers: [OpeningsResolver] })
class StaffModule {}

const apollo = (guarded: boolean) =>
  GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    graphiql: false,
    ...(guarded && { fieldResolverEnhancers: ['guards'] }),
  });

const OPENINGS = { controllers: [OpeningsController] };
const providers = [FeedGateway, OpeningsResolver, FeaturedResolver, OwnsOpening];

@Controller({ path: 'versioned', version: ['1', VERSION_NEUTRAL] })
class VersionedController {
  @Get() list(): string {
    return 'in';
  }

  @Get('second') @Version('2') @Public() second(): string {
    return 'in';
  }
}

@Controller()
class HealthController {
  @Get('health') @Public() health(): string {
    return 'in';
  }

  @Get('rest') rest(): string {
    return 'in';
  }
}

@Module({ controllers: [VersionedController] })
class InnerModule {}

const lineOf = ({ kind, call, handler, access, rules, isOpen }: AccessMapEntry): string =>
  [kind, call, handler, access, ...rules, isOpen ? 'open' : 'closed'].join(' | ');

describe.each(platforms('Fastify'))('the access map on %s', (_name, platform) => {
  const started: RunningApp[] = [];
  afterAll(() => Promise.all(started.map((app) => app.close())));

  const start = async (
    sample: Omit<SampleApp, 'baseUrl'>,
    configure?: (app: INestApplication) => void,
  ): Promise<RunningApp> => {
    const root = sampleApp({ baseUrl: 'https://sessions.example.com', controllers: [], ...sample });
    const app = await startApp(platform, root, { ...(configure && { configure }) });
    started.push(app);
    return app;
  };

  it('lists the calls of every kind in order, with their rules', async () => {
    const options = { protectAllRoutes: true };
    const { app } = await start({ ...OPENINGS, providers, imports: [apollo(true)], options });

    const map = accessMapOf(app);
    expect(JSON.parse(JSON.stringify(map))).toEqual(map);
    expect(map.map(lineOf)).toEqual([
      'graphql | Opening.salary | OpeningsResolver.salary | protected | @Roles(boss) | closed',
      'graphql | Query.featured | FeaturedResolver.featured | public | open',
      'graphql | Query.opening | OpeningsResolver.opening | protected | @Roles(boss) | closed',
      'http | GET /openings | OpeningsController.list | protected | closed',
      'http | POST /openings | OpeningsController.add | protected | closed',
      'http | GET /openings/about | OpeningsController.about | public | open',
      'http | GET /openings/info | OpeningsController.about | public | open',
      'http | GET /openings/news | OpeningsController.news | optional | open',
      'http | GET /openings/rules/:clientId | OpeningsController.rules | protected | @Roles(hiring_manager, boss) | @SubRoles(approver) | ' +
        '@RequireFlags(ats_enabled) | @CclScope(client_id: clientId) | @Authorize(function) | @Authorize(OwnsOpening) | ' +
        '@FreshSession(maxAgeMs: 1000) | closed',
      'rpc | happened | OpeningsController.happened | public | open',
      'rpc | {"cmd":"add"} | OpeningsController.add | protected | closed',
      'ws | feed ask | FeedGateway.ask | protected | closed',
    ]);
  });

  it('names the handlers that no guard checks if the guard is not global, with and without @UseGuards', async () => {
    // Otherwise the rule of a field that Nest does not guard stops the application.
    const options = { audit: 'off' } as const;
    const { app } = await start({ ...OPENINGS, providers, imports: [apollo(false)], options });

    expect(findOpenHandlers(app).map(lineOf)).toEqual([
      'graphql | Opening.salary | OpeningsResolver.salary | unguarded | open',
      'graphql | Query.featured | FeaturedResolver.featured | public | open',
      'http | GET /openings | OpeningsController.list | unguarded | open',
      'http | GET /openings/about | OpeningsController.about | public | open',
      'http | GET /openings/info | OpeningsController.about | public | open',
      'http | GET /openings/news | OpeningsController.news | optional | open',
      'rpc | happened | OpeningsController.happened | public | open',
      'ws | feed ask | FeedGateway.ask | unguarded | open',
    ]);
  });

  it('shows a field without guards as closed if every path to it needs a session', async () => {
    const { app } = await start({ providers: [OpeningsResolver], imports: [apollo(false)] });
    const fields = accessMapOf(app).map(({ call, access, isOpen }) => [call, access, isOpen]);
    expect(fields).toEqual([
      ['Opening.salary', 'unguarded', false],
      ['Query.opening', 'protected', false],
    ]);
  });

  it('names the endpoint of each field if there are two', async () => {
    const apolloAt = (path: string, include: (new () => unknown)[]) =>
      GraphQLModule.forRoot<ApolloDriverConfig>({
        driver: ApolloDriver,
        autoSchemaFile: true,
        path,
        include,
        useGlobalPrefix: true,
      });
    const { app } = await start(
      {
        imports: [
          { module: StaffModule },
          { module: PublicModule },
          apolloAt('staff', [StaffModule]),
          apolloAt('/public/', [PublicModule]),
        ],
        options: { protectAllRoutes: true },
      },
      (nest) => void nest.setGlobalPrefix('api'),
    );

    expect(accessMapOf(app).map(({ endpoint, call, isOpen }) => [endpoint, call, isOpen])).toEqual([
      ['/api/public', 'Query.featured', true],
      ['/api/staff', 'Opening.salary', true],
      ['/api/staff', 'Query.featured', true],
      ['/api/staff', 'Query.opening', false],
    ]);
  });

  it('names routes as they are called with their prefix, their version and the path of their module', async () => {
    const imports = [
      { module: InnerModule },
      RouterModule.register([{ path: 'inner', module: InnerModule }]),
    ];
    // The guard of `useGlobalGuards()` is known too.
    const running = await start({ controllers: [HealthController], imports }, (nest) => {
      nest.setGlobalPrefix('api', { exclude: [{ path: 'health', method: RequestMethod.GET }] });
      nest.enableVersioning({ type: VersioningType.URI }).useGlobalGuards(nest.get(SessionAuthGuard));
    });
    const map = accessMapOf(running.app).map(({ call, isOpen }) => [call, isOpen] as const);
    expect(map).toEqual([
      ['GET /api/inner/versioned', false],
      ['GET /api/rest', false],
      ['GET /api/v1/inner/versioned', false],
      ['GET /api/v2/inner/versioned/second', true],
      ['GET /health', true],
    ]);
    for (const [call, isOpen] of map)
      expect((await running.get(call.replace('GET ', ''))).status).toBe(isOpen ? 200 : 401);
  });

  it('names a version in a header after the path', async () => {
    const { app } = await start(
      { controllers: [VersionedController] },
      (nest) => void nest.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    );
    expect(accessMapOf(app).map(({ call }) => call)).toEqual([
      'GET /versioned (version 1)',
      'GET /versioned',
      'GET /versioned/second (version 2)',
    ]);
  });
});
