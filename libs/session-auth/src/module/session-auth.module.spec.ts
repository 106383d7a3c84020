import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { CapturedLog } from '../../../../test/support/captured-log.js';
import { InvalidConfigurationError } from '../contract/errors.js';
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

@Injectable()
class WithoutMethod {}

it.each<[string, () => DynamicModule, string]>([
  [
    'no options for forRoot()',
    () => SessionAuthModule.forRoot(undefined as never),
    'SessionAuthModule has no options. Write SessionAuthModule.forRoot({ baseUrl, apiKey }).',
  ],
  [
    'no options for forRootAsync()',
    () => SessionAuthModule.forRootAsync(undefined as never),
    'SessionAuthModule has no options. Write SessionAuthModule.forRootAsync({ useFactory }).',
  ],
  [
    'a useClass without its method',
    () => SessionAuthModule.forRootAsync({ useClass: WithoutMethod as never }),
    'SessionAuthModule: WithoutMethod has no createSessionAuthOptions(). Add the method, which returns { baseUrl, apiKey }.',
  ],
  [
    'the module itself, without options',
    () => SessionAuthModule as never,
    'SessionAuthModule is imported without options. Import SessionAuthModule.forRoot({ baseUrl, apiKey }) in the root module: other modules need no import.',
  ],
])(
  'an application with %s does not start, and the error says what to write',
  async (_what, given, message) => {
    const starting = async (): Promise<unknown> => start(given());
    await expect(starting()).rejects.toThrow(new InvalidConfigurationError(message));
  },
);

it('an application without GraphQL reads nothing of it in its log', async () => {
  const logger = new CapturedLog();
  const root = { module: Root, imports: [SessionAuthModule.forRoot(OPTIONS)] };
  await (await NestFactory.createApplicationContext(root, { logger })).close();
  expect(logger.lines.filter((line) => /graphql/i.test(line))).toEqual([]);
});

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
