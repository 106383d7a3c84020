import {
  All,
  Controller,
  Get,
  Post,
  SetMetadata,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { Authorize, Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import type { Observable } from 'rxjs';

@Controller()
@UseGuards(SessionAuthGuard)
export class ContradictoryController {
  @Get()
  @Public()
  @Authorize(() => true)
  list(): string {
    return 'list';
  }
}

/** As a tracing package does: another function in the place of the method, without its metadata. */
function wrapped(_target: object, _name: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as () => string;
  descriptor.value = function traced(this: unknown): string {
    return method.call(this);
  };
}

/** The same, with its metadata. */
function wrappedWithCare(target: object, name: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as object;
  wrapped(target, name, descriptor);
  for (const key of Reflect.getMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), descriptor.value as object);
  }
}

@Controller()
export class WrappedController {
  @Get('lost') @wrapped @Roles('boss') lost(): string {
    return 'lost';
  }

  @Get('kept') @wrappedWithCare @Roles('boss') kept(): string {
    return 'kept';
  }

  @Get('above') @Roles('boss') @wrapped above(): string {
    return 'above';
  }
}

@Controller()
export class RewrittenController extends WrappedController {
  @Get('lost') override lost(): string {
    return 'rewritten';
  }
}

export class CacheInterceptor implements NestInterceptor {
  trackBy(): string {
    return 'url';
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

class CacheForEachUser extends CacheInterceptor {
  override trackBy(): string {
    return 'user and url';
  }
}

class CacheOfSomeCalls extends CacheInterceptor {
  isRequestCacheable(): boolean {
    return false;
  }
}

class NamedCacheInterceptor extends CacheInterceptor {}

@Controller()
@UseGuards(SessionAuthGuard)
export class CachedController {
  @Get('shared') @UseInterceptors(CacheInterceptor) shared(): string {
    return 'shared';
  }

  @Get('named') @UseInterceptors(NamedCacheInterceptor) named(): string {
    return 'named';
  }

  @Get('own') @UseInterceptors(CacheForEachUser) own(): string {
    return 'own';
  }

  @Get('some') @UseInterceptors(CacheOfSomeCalls) some(): string {
    return 'some';
  }

  @Get('keyed')
  @SetMetadata('cache_module:cache_key', () => 'user and url')
  @UseInterceptors(CacheInterceptor)
  keyed(): string {
    return 'keyed';
  }

  @Get('open') @Public() @UseInterceptors(CacheInterceptor) open(): string {
    return 'open';
  }

  @Post('write') @UseInterceptors(CacheInterceptor) write(): string {
    return 'written';
  }

  @All('every') @UseInterceptors(CacheInterceptor) every(): string {
    return 'every method';
  }

  @Post('constant')
  @SetMetadata('cache_module:cache_key', 'constant')
  @UseInterceptors(CacheInterceptor)
  constant(): string {
    return 'one reply for all';
  }
}

@Controller('ruled')
@Roles('boss')
@UseInterceptors(new CacheInterceptor())
export class CachedClass {
  @Get() list(): string {
    return 'list';
  }
}

@Resolver('Opening')
export class OpeningsResolver {
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
