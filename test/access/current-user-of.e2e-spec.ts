import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { OptionalAuth, Public, SessionAuthGuard } from 'nestjs-session-auth';
import { accessOf, currentUserOf } from 'nestjs-session-auth/diagnostics';
import type { Observable } from 'rxjs';
import { PLATFORMS } from '../support/platforms.js';
import {
  overGraphql,
  overHttp,
  overMessages,
  overSocket,
  startEveryKind,
  type Call,
  type EveryKind,
} from './every-kind.js';

const seen: string[] = [];

function see(context: ExecutionContext): true {
  seen.push(`${accessOf(context)} ${currentUserOf(context)?.username ?? 'none'}`);
  return true;
}

@Injectable()
class EarlierGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return see(context);
  }
}

@Injectable()
class LaterGuard extends EarlierGuard {}

@Injectable()
class SeeingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    see(context);
    return next.handle();
  }
}

@Controller()
@UseGuards(EarlierGuard, SessionAuthGuard, LaterGuard)
@UseInterceptors(SeeingInterceptor)
class InController {
  @Get('closed') @MessagePattern('closed') closed(): string {
    return 'in';
  }

  @Get('optional') @MessagePattern('optional') @OptionalAuth() optional(): string {
    return 'in';
  }

  @Get('open') @MessagePattern('open') @Public() open(): string {
    return 'in';
  }
}

@Resolver()
@UseGuards(EarlierGuard, SessionAuthGuard, LaterGuard)
@UseInterceptors(SeeingInterceptor)
class InResolver {
  @Query(() => String) closed(): string {
    return 'in';
  }

  @Query(() => String) @OptionalAuth() optional(): string {
    return 'in';
  }

  @Query(() => String) @Public() open(): string {
    return 'in';
  }
}

@WebSocketGateway()
@UseGuards(EarlierGuard, SessionAuthGuard, LaterGuard)
@UseInterceptors(SeeingInterceptor)
class InGateway {
  @SubscribeMessage('closed') closed(): object {
    return { event: 'closed', data: 'in' };
  }

  @SubscribeMessage('optional') @OptionalAuth() optional(): object {
    return { event: 'optional', data: 'in' };
  }

  @SubscribeMessage('open') @Public() open(): object {
    return { event: 'open', data: 'in' };
  }
}

const KINDS: [kind: string, callOf: (handler: string) => Call][] = [
  ['a controller', (handler) => overHttp(`/${handler}`)],
  ['a resolver', overGraphql],
  ['a gateway', overSocket],
  ['a message handler', overMessages],
];

describe.each(PLATFORMS)('guards and interceptors of an application on %s', (_name, platform) => {
  let every: EveryKind;
  beforeAll(async () => {
    every = await startEveryKind(platform, {
      controllers: [InController],
      providers: [InResolver, InGateway],
    });
  });
  afterAll(() => every.close());
  beforeEach(() => void seen.splice(0));

  it.each(KINDS)(
    'get the user of a call of %s, after the session guard, and the access of its handler',
    async (_kind, callOf) => {
      const token = every.service.signInAs({});
      for (const handler of ['closed', 'optional', 'open'])
        expect(await callOf(handler)(every, token)).toBe('in');
      expect(await callOf('optional')(every, 'refused')).toBe('in');
      expect(seen).toEqual([
        ...['protected none', 'protected ann', 'protected ann'],
        ...['optional none', 'optional ann', 'optional ann'],
        ...['public none', 'public none', 'public none'],
        ...['optional none', 'optional none', 'optional none'],
      ]);
    },
  );
});
