import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, UseGuards } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  AuthToken,
  CurrentUser,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  type UserRecord,
} from 'nestjs-session-auth';
import { CapturedLog } from '../../support/captured-log.js';
import { type AppSetup } from '../../support/platforms.js';
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
