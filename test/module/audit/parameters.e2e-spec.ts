import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Module,
  UseGuards,
  VersioningType,
  type DynamicModule,
  type Type,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  AuthToken,
  CclScope,
  CurrentUser,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  type UserRecord,
} from 'nestjs-session-auth';
import { CapturedLog } from '../../support/captured-log.js';
import { platforms, type AppSetup, type RunningApp } from '../../support/platforms.js';
import { type SampleApp } from '../../support/sample-app.js';
import { testbed, type Testbed } from '../../support/testbed.js';

type Sample = Omit<SampleApp, 'baseUrl'>;
type Configure = NonNullable<AppSetup['configure']>;

const CLIENT = { ccl_info: { client_id: 7 } };

/** Starts an application, and returns it with the warnings of the audit. */
async function audited(bed: Testbed, sample: Sample, configure: Configure = () => undefined) {
  const service = await bed.service();
  const logger = new CapturedLog();
  const app = await bed.sample({ baseUrl: service.url, controllers: [], ...sample }, { logger, configure });
  const warnings = logger
    .having('warn', 'audit')
    .map((line) => /audit: .*[.](?= SessionAuth)/.exec(line)?.[0] ?? line);
  return { app, warnings, token: service.signInAs(CLIENT) };
}

const routeOf = (...paths: string[]): Type => {
  @Controller()
  class Scoped {
    @Get(paths) @CclScope({ client_id: 'clientId' }) show(): string {
      return 'shown';
    }
  }
  return Scoped;
};

@CclScope({ client_id: 'clientId' })
@Controller('clients/:clientId')
class ScopedClients {
  @Get('openings/:id') openings(): string {
    return 'shown';
  }
}

@CclScope({ client_id: 'clientId' })
@Controller(['clients', 'clients/:clientId'])
class TwoPaths {
  @Get() list(): string {
    return 'shown';
  }

  @Get('open') @Public() open(): string {
    return 'open';
  }
}

@Controller('companies')
class TwoParameters {
  @Get()
  @CclScope({ client_id: 'clientId', company_id: 'companyId' })
  @CclScope({ client_id: 'clientId' })
  list(): string {
    return 'shown';
  }
}

@Controller({ path: 'clients', version: ['1', '2'] })
class Versioned {
  @Get(':clientId') @CclScope({ client_id: 'clientId' }) right(): string {
    return 'shown';
  }

  @Get() @CclScope({ client_id: 'clientId' }) wrong(): string {
    return 'shown';
  }
}

@Controller('openings')
class RoutedController {
  @Get() @CclScope({ client_id: 'clientId' }) routed(): string {
    return 'shown';
  }
}

@Module({ controllers: [RoutedController] })
class RoutedModule {}
const routed: DynamicModule[] = [
  { module: RoutedModule },
  RouterModule.register([{ path: 'clients/:clientId', module: RoutedModule }]),
];

@Controller()
class ScopedMessages {
  @MessagePattern('show') @CclScope({ client_id: 'clientId' }) show(): string {
    return 'shown';
  }
}

const lacks = (place: string, path: string, parameter = 'clientId'): string =>
  `audit: ${place} has @CclScope() with the parameter '${parameter}', which its path ${path} does not have: every call is denied. Name a parameter of the path.`;

const statusesOf = async (app: RunningApp, token: string, ...paths: string[]): Promise<number[]> =>
  Promise.all(paths.map(async (path) => (await app.get(path, token)).status));

describe.each(platforms('Express'))('a scope on %s', (name, platform) => {
  const bed = testbed(platform);

  it('whose parameter is in no path, or only in one of them, is named by the audit, and denies every call', async () => {
    const controllers = [routeOf('people/:client', 'both/:clientId'), TwoPaths, TwoParameters];
    const { app, warnings, token } = await audited(bed, { controllers });

    expect(warnings).toEqual([
      lacks('Scoped.show', '/people/:client'),
      lacks('TwoPaths.list', '/clients'),
      lacks('TwoParameters.list', '/companies'),
      lacks('TwoParameters.list', '/companies', 'companyId'),
    ]);
    expect(await statusesOf(app, token, '/both/7', '/both/8', '/clients', '/clients/open')).toEqual([
      200, 403, 403, 200,
    ]);
  });

  it.each<[string, Sample, Configure | undefined, string]>([
    ['of its controller', { controllers: [ScopedClients] }, undefined, '/clients/7/openings/1'],
    [
      'of the global prefix',
      { controllers: [routeOf('openings')] },
      (app) => app.setGlobalPrefix('clients/:clientId'),
      '/clients/7/openings',
    ],
    ['of RouterModule', { imports: routed }, undefined, '/clients/7/openings'],
    ['next to text', { controllers: [routeOf('clients/:clientId-:name')] }, undefined, '/clients/7-ann'],
  ])('whose parameter is in the path %s passes the audit', async (_case, sample, configure, path) => {
    const { app, warnings, token } = await audited(bed, sample, configure);

    expect(warnings).toEqual([]);
    expect(await statusesOf(app, token, path, path.replace('7', '8'))).toEqual([200, 403]);
  });

  it('of a wildcard is named by the audit, because its value is a list or has no name', async () => {
    const path = name === 'Fastify' ? 'files/*' : 'files/*clientId';
    const { app, warnings, token } = await audited(bed, { controllers: [routeOf(path)] });

    expect(warnings).toEqual([lacks('Scoped.show', `/${path}`)]);
    expect(await statusesOf(app, token, '/files/7')).toEqual([403]);
  });

  it('of a versioned route is named by its path without the version', async () => {
    const enable: Configure = (app) => void app.enableVersioning({ type: VersioningType.URI });
    const { app, warnings, token } = await audited(bed, { controllers: [Versioned] }, enable);

    expect(warnings).toEqual([lacks('Versioned.wrong', '/clients')]);
    expect(await statusesOf(app, token, '/v1/clients/7', '/v2/clients/8', '/v1/clients')).toEqual([
      200, 403, 403,
    ]);
  });

  it('of a message passes the audit, which does not know the fields of messages', async () => {
    expect((await audited(bed, { controllers: [ScopedMessages] })).warnings).toEqual([]);
  });
});

@Controller()
class OpenController {
  @Get('user') user(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }

  @Get('both') both(
    @CurrentUser('email') email: string | undefined,
    @CurrentUser('role') role: string | undefined,
    @AuthToken() token: string | undefined,
  ): string {
    return typeof (email ?? role ?? token);
  }

  @Get('guarded') @UseGuards(SessionAuthGuard) guarded(@CurrentUser() user: UserRecord): string {
    return typeof user;
  }

  @Get('ruled') @Roles('boss') ruled(@CurrentUser() user: UserRecord): string {
    return typeof user;
  }

  @Get('optional') @OptionalAuth() optional(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }

  @Get('none') none(): string {
    return 'none';
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
class PublicController {
  @Get('public') @Public() open(@AuthToken() token: string | undefined): string {
    return typeof token;
  }
}

@Injectable()
class ThrottlerGuard {
  canActivate(): boolean {
    return true;
  }
}

@Injectable()
class OwnGuard extends ThrottlerGuard {}
class GuardOfTheApplication {
  canActivate(): boolean {
    return true;
  }
}

@Controller()
@UseGuards(OwnGuard)
class ThrottledController {
  @Get('throttled') throttled(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }
}

@Controller()
@UseGuards(GuardOfTheApplication)
class OtherwiseGuardedController {
  @Get('other') other(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }

  @Get('other/open') @Public() open(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }
}

@WebSocketGateway()
class OpenGateway {
  @SubscribeMessage('say') say(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }
}

@Controller()
class OpenMessages {
  @MessagePattern('say') say(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }
}

@Resolver('Opening')
class OpenResolver {
  @Query('openings') openings(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }

  @ResolveField('title') title(@CurrentUser() user: UserRecord | undefined): string {
    return typeof user;
  }
}

const undefinedIn = (...places: [place: string, decorator: string][]): string[] =>
  places.map(
    ([place, decorator]) =>
      `audit: ${place} has ${decorator}, which is always undefined: no guard checks the session. Guard it; @OptionalAuth() admits callers with and without a session.`,
  );

describe('a parameter with the user or the token', () => {
  const bed = testbed();

  it('of a handler without a guard is named by the audit, in every kind of context', async () => {
    const controllers = [OpenController, ThrottledController, OpenMessages];
    const { app, warnings, token } = await audited(
      bed,
      { controllers, providers: [OpenGateway, OpenResolver] },
      (nest) => {
        nest.useGlobalGuards(new ThrottlerGuard());
      },
    );

    expect(warnings.sort()).toEqual(
      undefinedIn(
        ['OpenController.both', '@AuthToken()'],
        ['OpenController.both', '@CurrentUser()'],
        ['OpenController.user', '@CurrentUser()'],
        ['OpenGateway.say', '@CurrentUser()'],
        ['OpenMessages.say', '@CurrentUser()'],
        ['OpenResolver.openings', '@CurrentUser()'],
        ['ThrottledController.throttled', '@CurrentUser()'],
      ),
    );
    expect(await (await app.get('/user', token)).text()).toBe('undefined');
  });

  it('of a public handler is named by the audit', async () => {
    const { app, warnings, token } = await audited(bed, { controllers: [PublicController] });

    expect(warnings).toEqual(undefinedIn(['PublicController.open', '@AuthToken()']));
    expect(await (await app.get('/public', token)).text()).toBe('undefined');
  });

  it.each<[string, Sample]>([
    [
      'protectAllRoutes',
      {
        controllers: [OpenController, OpenMessages],
        providers: [OpenGateway],
        options: { protectAllRoutes: true },
      },
    ],
    ['a guard of the application, which may set the user', { controllers: [OtherwiseGuardedController] }],
  ])('passes the audit with %s', async (_case, sample) => {
    expect((await audited(bed, sample)).warnings).toEqual([]);
  });
});
