import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { ContextKindsModule } from './context-kinds.module.js';
import { SessionAuthModule } from './session-auth.module.js';
import { REGISTRATION, type Registration } from './wiring.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

@Module({})
class Root {}

const start = (...imports: DynamicModule[]): Promise<INestApplicationContext> =>
  NestFactory.createApplicationContext({ module: Root, imports }, { logger: false, abortOnError: false });

it.each([SessionAuthModule, ContextKindsModule])(
  '%p names what it injects, because a bundler may drop the metadata of the compiler',
  (module) => {
    expect(Reflect.getMetadata('self:paramtypes', module)).toHaveLength(module.length);
  },
);

/** A registration that has started nothing yet, and its parts. */
async function parts() {
  const context = await start(SessionAuthModule.forRoot(OPTIONS));
  const [module] = [...context.get(ModulesContainer).values()].filter(({ providers }) =>
    providers.has(REGISTRATION),
  );
  return {
    context,
    module: module?.instance as unknown as SessionAuthModule,
    ...(module?.providers.get(REGISTRATION)?.instance as Registration),
  };
}

describe('a registration', () => {
  it('subscribes to revocations when its module is initialized', async () => {
    const { context, module, verifier } = await parts();
    const subscribe = jest.spyOn(verifier.revoker, 'subscribe');
    await module.onModuleInit();
    await module.onApplicationBootstrap();
    expect(subscribe.mock.calls).toEqual([[]]);
    await context.close();
  });

  it('ends the calls in flight when the application shuts down, then its events, and then its connections', async () => {
    const { causes, context, deadlines, events, requests, verifier } = await parts();
    const seen: string[] = [];
    const spied = [jest.spyOn(requests, 'close'), jest.spyOn(verifier, 'close')];
    events.ended.subscribe({
      complete: () =>
        seen.push(`${spied.length - spied.filter(({ mock }) => mock.calls.length > 0).length} open`),
    });
    const running = deadlines.start(60_000);
    running.onEnd((end) => seen.push(end));
    const closing = context.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect([seen, events.isComplete]).toEqual([[], false]);
    running.clear();
    await closing;
    expect([seen, events.isComplete]).toEqual([['2 open'], true]);
    expect(spied.map(({ mock }) => mock.calls)).toEqual([[[]], [[]]]);
    expect(deadlines.start(60_000).ended).toBe('shutting_down');
    causes.occurred('clock differs');
    expect(causes.areNone).toBe(true);
  });
});
