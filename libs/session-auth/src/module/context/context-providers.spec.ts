import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { ApplicationConfig, NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { CallInterceptor } from '../../guard/context/call-interceptor.js';
import { runInCall } from '../../guard/context/current-call.js';
import { SessionContext } from '../../guard/context/session-context.js';
import { enhancersOf } from '../../guard/enhancers.js';
import { SessionRelay } from '../relay/session-relay.js';
import { SessionAuthModule } from '../session-auth.module.js';

@Injectable()
class WithContext {
  constructor(readonly session: SessionContext) {}
}

@Injectable()
class WithRelay {
  constructor(readonly relay: SessionRelay) {}
}

function messages(): Type {
  @Injectable()
  class Messages {
    @MessagePattern('list') list(): string {
      return 'list';
    }
  }
  return Messages;
}

@Module({})
class Root {}

function start(asyncContext: boolean, ...providers: Type[]): Promise<INestApplicationContext> {
  const registration = SessionAuthModule.forRoot({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', asyncContext });
  return NestFactory.createApplicationContext({ module: Root, imports: [registration], providers }, { logger: false, abortOnError: false });
}

describe('an application with asyncContext', () => {
  it('has a SessionContext and a SessionRelay that work, in every call', async () => {
    const handlers = messages();
    const context = await start(true, WithContext, WithRelay, handlers);
    const { session } = context.get(WithContext);
    const { relay } = context.get(WithRelay);
    const admission = {
      ...{ verifier: { revoker: { count: 0 } }, authority: 'default', revocations: 0, context: {} as never },
      ...{ user: { username: 'ann' }, session: { token: 'token', authIv: undefined } },
    };
    runInCall({ admission }, () => {
      expect([session.user, relay.metadata()]).toEqual([{ username: 'ann' }, { 'x-auth-token': 'token' }]);
    });
    expect(context.get(ApplicationConfig).getGlobalInterceptors()).toEqual([expect.any(CallInterceptor)]);
    expect(enhancersOf(handlers, 'interceptor')).toEqual([expect.any(CallInterceptor)]);
    await context.close();
  });
});

describe('an application without asyncContext', () => {
  it('runs as if there were none', async () => {
    const handlers = messages();
    const context = await start(false, handlers);
    expect([context.get(ApplicationConfig).getGlobalInterceptors(), enhancersOf(handlers, 'interceptor')]).toEqual([[], []]);
    expect(() => context.get(SessionContext).user).toThrow(/^SessionContext needs asyncContext/);
    expect(() => context.get(SessionRelay).metadata()).toThrow(/^SessionRelay\.metadata\(\) needs asyncContext/);
    await context.close();
  });

  it.each<[string, Type]>([
    ['SessionContext', WithContext],
    ['SessionRelay', WithRelay],
  ])('does not start if a class injects %s', async (injected, owner) => {
    await expect(start(false, owner)).rejects.toThrow(`${owner.name} injects ${injected}, which needs asyncContext.`);
  });
});
