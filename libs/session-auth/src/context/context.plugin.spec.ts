import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { ApplicationConfig, NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { admissionOf } from '../../../../test/support/session-parts.js';
import type { SessionAuthPlugin } from '../module/options/plugins.js';
import { CallInterceptor } from './call-interceptor.js';
import { sessionContext } from './context.plugin.js';
import { runInCall } from './current-call.js';
import { SessionContext } from './session-context.js';
import { enhancersOf } from '../guard/enhancers.js';
import { SessionRelay } from './session-relay.js';
import { SessionAuthModule } from '../module/session-auth.module.js';

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

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

function start(
  plugins: readonly SessionAuthPlugin[],
  ...providers: Type[]
): Promise<INestApplicationContext> {
  const registration = SessionAuthModule.forRoot({ ...OPTIONS, plugins });
  return NestFactory.createApplicationContext(
    { module: Root, imports: [registration], providers },
    { logger: false, abortOnError: false },
  );
}

describe('an application with the plugin', () => {
  it('has a SessionContext and a SessionRelay that work, in every call', async () => {
    const handlers = messages();
    const context = await start([sessionContext], WithContext, WithRelay, handlers);
    const { session } = context.get(WithContext);
    const { relay } = context.get(WithRelay);
    const admission = admissionOf({
      user: { username: 'ann' },
      session: { token: 'token', authIv: undefined },
    });
    runInCall({ admission }, () => {
      expect([session.user, relay.metadata()]).toEqual([{ username: 'ann' }, { 'x-auth-token': 'token' }]);
    });
    expect(context.get(ApplicationConfig).getGlobalInterceptors()).toEqual([expect.any(CallInterceptor)]);
    expect(enhancersOf(handlers, 'interceptor')).toEqual([expect.any(CallInterceptor)]);
    await context.close();
  });
});

describe('an application without the plugin', () => {
  it('runs as if there were none', async () => {
    const handlers = messages();
    const context = await start([], handlers);
    expect([
      context.get(ApplicationConfig).getGlobalInterceptors(),
      enhancersOf(handlers, 'interceptor'),
    ]).toEqual([[], []]);
    await context.close();
  });

  it.each<[string, Type]>([
    ['SessionContext', WithContext],
    ['SessionRelay', WithRelay],
  ])('does not start if a class injects %s', async (injected, owner) => {
    await expect(start([], owner)).rejects.toThrow(
      `${owner.name} needs ${injected}, which SessionAuthModule does not provide here. Add sessionContext of nestjs-session-auth/context to plugins in its options.`,
    );
  });

  it('does not start if a module lists SessionContext among its providers', async () => {
    await expect(start([], WithContext, SessionContext)).rejects.toThrow(
      "Nest can't resolve dependencies of the SessionContext (?)",
    );
  });
});

describe('an application with the plugin in a named authority', () => {
  it('does not start', async () => {
    const imports = [
      SessionAuthModule.forRoot(OPTIONS),
      SessionAuthModule.forRoot({ ...OPTIONS, name: 'partners', plugins: [sessionContext] }),
    ];
    await expect(
      NestFactory.createApplicationContext({ module: Root, imports }, { logger: false, abortOnError: false }),
    ).rejects.toThrow(
      'sessionContext is in the plugins of a named authority. Name it in those of the default authority',
    );
  });
});
