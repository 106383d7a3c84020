import { describe, expect, it } from '@jest/globals';
import {
  All,
  Controller,
  Get,
  Injectable,
  Post,
  SetMetadata,
  UseGuards,
  UseInterceptors,
  type NestInterceptor,
} from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import type { Observable } from 'rxjs';
import { Public, Roles } from '../guard/access.decorators.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { handlersIn } from '../guard/handlers.js';
import { auditContextOf } from './audit-context.js';
import { OTHER_KINDS } from './other-kinds.js';
import { sharesCachedReplies } from './cached-replies.js';

/** As that of @nestjs/cache-manager. */
@Injectable()
class CacheInterceptor implements NestInterceptor {
  intercept(_context: unknown, next: { handle(): Observable<unknown> }): Observable<unknown> {
    return next.handle();
  }
  trackBy(): string {
    return 'url';
  }
  isRequestCacheable(): boolean {
    return true;
  }
}
class DerivedInterceptor extends CacheInterceptor {}
class TrackingInterceptor extends CacheInterceptor {
  override trackBy(): string {
    return 'url and user';
  }
}
class SelectingInterceptor extends CacheInterceptor {
  override isRequestCacheable(): boolean {
    return false;
  }
}
class DerivedTrackingInterceptor extends TrackingInterceptor {}
class OtherInterceptor {
  intercept(): undefined {
    return undefined;
  }
}

const CacheKey = (key: unknown): MethodDecorator => SetMetadata('cache_module:cache_key', key);

const CONTEXT = auditContextOf(new ModulesContainer(), new ApplicationConfig(), OTHER_KINDS);

@Controller()
@UseGuards(SessionAuthGuard)
class Guarded {
  @Get()
  get(): string {
    return 'get';
  }
  @All('all')
  all(): string {
    return 'all';
  }
  @Post()
  post(): string {
    return 'post';
  }
  @Post('named')
  @CacheKey('named')
  named(): string {
    return 'named';
  }
  @Get('computed')
  @CacheKey(() => 'computed')
  computed(): string {
    return 'computed';
  }
  @Get('public')
  @Public()
  public(): string {
    return 'public';
  }
  @MessagePattern('message')
  message(): string {
    return 'message';
  }
  @MessagePattern('named message')
  @CacheKey('named')
  namedMessage(): string {
    return 'named message';
  }
}

@Controller()
class OnMethods {
  @Get()
  @Roles('admin')
  @UseInterceptors(CacheInterceptor)
  cached(): string {
    return 'cached';
  }
  @Get('plain')
  @Roles('admin')
  plain(): string {
    return 'plain';
  }
  @Get('open')
  @UseInterceptors(CacheInterceptor)
  open(): string {
    return 'open';
  }
}

@Controller()
@UseInterceptors(OtherInterceptor, CacheInterceptor)
class OnClass {
  @Get()
  @Roles('admin')
  ruled(): string {
    return 'ruled';
  }
}

const sharing = (
  owner: typeof Guarded | typeof OnMethods | typeof OnClass,
  interceptors: unknown[] = [],
  isGlobal = false,
): string[] =>
  handlersIn(owner)
    .map((handler) => (isGlobal ? { ...handler, guards: [SessionAuthGuard] } : handler))
    .filter((handler) => sharesCachedReplies(handler, { ...CONTEXT, interceptors }))
    .map(({ name }) => name);

describe('CacheInterceptor may send one user the reply of another', () => {
  it('for guarded GET routes, and for handlers with a fixed key', () => {
    expect(sharing(Guarded, [CacheInterceptor])).toEqual(['get', 'all', 'named', 'namedMessage']);
  });

  it('if it is on the application, a controller or a handler that is guarded', () => {
    expect(sharing(OnMethods)).toEqual(['cached']);
    expect(sharing(OnMethods, [], true)).toEqual(['cached', 'open']);
    expect(sharing(OnClass)).toEqual(['ruled']);
    expect(sharing(Guarded)).toEqual([]);
  });

  it.each<[string, unknown, boolean]>([
    ['the class', CacheInterceptor, true],
    ['an instance', new CacheInterceptor(), true],
    ['a subclass that changes no key', DerivedInterceptor, true],
    ['a subclass whose key may name the user', TrackingInterceptor, false],
    ['an instance of one', new TrackingInterceptor(), false],
    ['a subclass of one', DerivedTrackingInterceptor, false],
    [
      'an instance whose own key may name the user',
      Object.assign(new DerivedInterceptor(), { trackBy: () => 'user' }),
      false,
    ],
    ['a subclass that selects the calls', SelectingInterceptor, false],
    ['another class', OtherInterceptor, false],
    ['an instance of another class', new OtherInterceptor(), false],
    [
      'an object without a class',
      Object.assign(Object.create(null) as object, { intercept: () => undefined }),
      false,
    ],
    ['a function', () => undefined, false],
    ['nothing', undefined, false],
    ['null', null, false],
  ])('if the interceptor is %s (%p): %p', (_what, interceptor, isShared) => {
    expect(sharing(Guarded, [new OtherInterceptor(), interceptor]).includes('get')).toBe(isShared);
  });
});
