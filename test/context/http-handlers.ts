import {
  Controller,
  Get,
  Injectable,
  Next,
  Param,
  ParseIntPipe,
  Sse,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type MessageEvent,
  type NestInterceptor,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { OptionalAuth, Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { currentUserOf, SessionContext } from 'nestjs-session-auth/context';
import { concatMap, defer, finalize, from, interval, map, take, type Observable } from 'rxjs';
import { ProfileService, RequestProfile } from './profile.service.js';

/** The users that the parts of a request read. */
export class Seen {
  by: Record<string, unknown> = {};
}

@Injectable()
class NamePipe implements PipeTransform {
  constructor(private readonly profile: ProfileService) {}

  transform(value: string): string {
    return `${value} ${this.profile.name()}`;
  }
}

@Injectable()
class NameInterceptor implements NestInterceptor {
  constructor(
    private readonly profile: ProfileService,
    private readonly seen: Seen,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    this.seen.by.interceptor = [this.profile.name(), currentUserOf(context)?.username];
    return next.handle().pipe(map((text) => `${String(text)}, ${this.profile.name()}`));
  }
}

/** A guard of the application, before or after that of the session. */
function seeingGuard(name: string): new (seen: Seen) => CanActivate {
  @Injectable()
  class SeeingGuard implements CanActivate {
    constructor(private readonly seen: Seen) {}

    canActivate(context: ExecutionContext): boolean {
      this.seen.by[name] = currentUserOf(context)?.username;
      return true;
    }
  }
  Reflect.defineMetadata('design:paramtypes', [Seen], SeeingGuard);
  return SeeingGuard;
}

/** Pretends to know the user, before and after the guard. */
class Impostor implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<{ user: unknown }>().user = { username: 'impostor' };
    return true;
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
export class NamesController {
  constructor(
    private readonly profile: ProfileService,
    private readonly session: SessionContext,
    private readonly seen: Seen,
  ) {}

  @Get('name')
  async name(): Promise<string> {
    return `${this.profile.name()} ${await this.profile.nameLater()}`;
  }

  @Get('session')
  whole(): unknown {
    return {
      username: this.session.user.username,
      token: this.session.token,
      iv: this.session.authIv ?? null,
    };
  }

  @Get('piped/:id')
  piped(@Param('id', ParseIntPipe) id: number, @Param('id', NamePipe) name: string): string {
    return `${id} ${name}`;
  }

  @Get('intercepted')
  @UseInterceptors(NameInterceptor)
  intercepted(): string {
    return this.profile.name();
  }

  @Get('guarded')
  @UseGuards(seeingGuard('later guard'))
  guarded(): string {
    return this.profile.name();
  }

  @Get('replaced')
  @UseGuards(Impostor, seeingGuard('guard after an impostor'))
  replaced(): string {
    return this.profile.name();
  }

  @Get('observable')
  observable(): Observable<string> {
    return defer(() => {
      const first = this.profile.name();
      return interval(1).pipe(
        take(1),
        concatMap(() => from(this.profile.nameLater())),
        map((last) => `${first} ${last}`),
      );
    });
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    return defer(() => {
      const first = this.profile.name();
      return interval(1).pipe(
        take(2),
        map(() => ({ data: `${first} ${this.profile.name()}` })),
        finalize(() => (this.seen.by.finalizer = this.profile.name())),
      );
    });
  }

  @Get('managers')
  @Roles('hiring_manager')
  managers(): string {
    return this.profile.name();
  }

  @Get('optional')
  @OptionalAuth()
  async optional(): Promise<string> {
    return `${this.profile.name()} ${await this.profile.nameLater()}`;
  }

  @Get('open')
  @Public()
  @UseInterceptors(NameInterceptor)
  open(): string {
    return this.profile.name();
  }

  @Get('open/replaced')
  @Public()
  @UseGuards(Impostor, seeingGuard('guard of an open route'))
  openReplaced(): string {
    return this.profile.name();
  }

  @Get('open/user')
  @Public()
  openUser(): string {
    return this.session.user.username ?? '';
  }

  /** Passes the request on to the next route of the same path. */
  @Get('passed-on')
  passedOn(@Next() next: () => void): void {
    next();
  }
}

/** Its routes come after those of {@link NamesController}. */
@Controller()
export class OpenController {
  constructor(private readonly profile: ProfileService) {}

  @Get('passed-on')
  @UseInterceptors(NameInterceptor)
  passedOn(): string {
    return this.profile.name();
  }
}

@Controller('request-scoped')
@UseGuards(SessionAuthGuard)
class RequestScopedController {
  constructor(private readonly profile: RequestProfile) {}

  @Get()
  async name(): Promise<string> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.profile.name();
  }
}

/** Fastify has one handler for each path. */
export const httpControllers = (platform: string): Type[] => [
  NamesController,
  ...(platform === 'Express' ? [OpenController] : []),
  RequestScopedController,
];

export const HTTP_PROVIDERS = [ProfileService, RequestProfile];
