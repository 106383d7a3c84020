import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Param, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { ApplicationGuardsProxy } from '../kinds/application-guards.js';
import { OptionalAuth, Public, Roles } from '../guard/access.decorators.js';
import { AuthToken, CurrentUser } from '../guard/current-user.decorator.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { handlersIn } from '../guard/handlers.js';
import { unguardedParametersOf } from './parameters.js';

@Injectable()
class ThrottlerGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}
class OwnThrottlerGuard extends ThrottlerGuard {}
class OwnGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

type User = UserRecord | undefined;

@Controller()
class Handlers {
  @Get('both')
  both(@CurrentUser() user: User, @Param('id') id: string, @AuthToken() token: string | undefined): unknown {
    return [user, id, token];
  }
  @Get('twice')
  twice(@CurrentUser() user: User, @CurrentUser('email') email: string | undefined): unknown {
    return [user, email];
  }
  @Get('guarded')
  @UseGuards(SessionAuthGuard)
  guarded(@CurrentUser() user: User): unknown {
    return user;
  }
  @Get('ruled')
  @Roles('admin')
  ruled(@CurrentUser() user: User): unknown {
    return user;
  }
  @Get('optional')
  @OptionalAuth()
  optional(@CurrentUser() user: User): unknown {
    return user;
  }
  @Get('own')
  @UseGuards(OwnGuard)
  own(@CurrentUser() user: User): unknown {
    return user;
  }
  @Get('public')
  @Public()
  public(@CurrentUser() user: User): unknown {
    return user;
  }
  @Get('plain')
  plain(@Param('id') id: string): string {
    return id;
  }
  @Get('none')
  none(): string {
    return 'none';
  }
}

@Resolver('Opening')
class Fields {
  @Query('openings')
  openings(@CurrentUser() user: User): unknown {
    return user;
  }
  @ResolveField('title')
  title(@CurrentUser() user: User): unknown {
    return user;
  }
}

function controllerWith(...guards: (CanActivate | Type<CanActivate>)[]): Type {
  @Controller()
  @UseGuards(...guards)
  class Guarded {
    @Get()
    user(@CurrentUser() user: User): unknown {
      return user;
    }
    @Get('public')
    @Public()
    public(@CurrentUser() user: User): unknown {
      return user;
    }
  }
  return Guarded;
}

/** The parameters of each handler of a class that has unguarded ones. */
function unguarded(owner: Type, guards: readonly unknown[] = []): unknown {
  const found = handlersIn(owner).map(
    (handler) =>
      [handler.name, unguardedParametersOf({ ...handler, guards: [...guards, ...handler.guards] })] as const,
  );
  return Object.fromEntries(found.filter(([, parameters]) => parameters.length > 0));
}

const USER = ['@CurrentUser()'];
const WITHOUT_GUARDS = {
  both: expect.arrayContaining(['@CurrentUser()', '@AuthToken()']),
  twice: USER,
  public: USER,
};

describe('a parameter of this library is always undefined', () => {
  it('in a handler without a guard, and in a public one', () => {
    expect(unguarded(Handlers)).toEqual(WITHOUT_GUARDS);
  });

  it('in a root field without a guard, and not in a field, which has the user of its root field', () => {
    expect(unguarded(Fields)).toEqual({ openings: USER });
  });

  it.each<[string, readonly unknown[], unknown]>([
    ['the session guard', [SessionAuthGuard], { public: USER }],
    ['the guard of @nestjs/throttler', [ThrottlerGuard], WITHOUT_GUARDS],
    ['an instance of a subclass of it', [new OwnThrottlerGuard()], WITHOUT_GUARDS],
    ['the proxy of the global guards', [ApplicationGuardsProxy], WITHOUT_GUARDS],
    ['a throttler and the session guard', [ThrottlerGuard, SessionAuthGuard], { public: USER }],
    ['a guard of the application, which may set the user', [OwnGuard], {}],
    ['an instance of one, beside the session guard', [SessionAuthGuard, new OwnGuard()], {}],
    [
      'an object without a class',
      [Object.assign(Object.create(null) as object, { canActivate: () => true })],
      {},
    ],
  ])('or not, if the application has %s', (_which, guards, expected) => {
    expect(unguarded(Handlers, guards)).toEqual(expected);
  });

  it.each<[string, Type, unknown]>([
    ['the session guard', controllerWith(SessionAuthGuard), { public: USER }],
    ['the guard of @nestjs/throttler', controllerWith(ThrottlerGuard), { user: USER, public: USER }],
    ['the proxy of the global guards', controllerWith(ApplicationGuardsProxy), { user: USER, public: USER }],
    ['a guard of the application', controllerWith(new OwnGuard()), {}],
  ])('or not, if its controller has %s', (_which, controller, expected) => {
    expect(unguarded(controller)).toEqual(expected);
  });
});
