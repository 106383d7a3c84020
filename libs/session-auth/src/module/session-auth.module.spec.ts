import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { nameIn } from './authorities/authority.js';
import type { NestModule } from '../guard/nest-container.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { ContextKindsModule } from './context-kinds.module.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SessionAuthModule } from './session-auth.module.js';
import { PARTS, type AuthorityParts } from './wiring.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

@Module({})
class Root {}

const start = (...imports: DynamicModule[]): Promise<INestApplicationContext> =>
  NestFactory.createApplicationContext({ module: Root, imports }, { logger: false, abortOnError: false });

function moduleWith(name: string | undefined, context: INestApplicationContext): NestModule {
  const modules = [...context.get(ModulesContainer).values()];
  const found = modules.find((module) => module.providers.has(PARTS) && nameIn(module) === name);
  if (!found) throw new Error('not found');
  return found;
}

describe.each<[string, (name?: string) => DynamicModule]>([
  ['forRoot()', (name) => SessionAuthModule.forRoot({ ...OPTIONS, ...(name !== undefined && { name }) })],
  [
    'forRootAsync()',
    (name) =>
      SessionAuthModule.forRootAsync({ useFactory: () => OPTIONS, ...(name !== undefined && { name }) }),
  ],
])('an authority by %s', (_method, register) => {
  it('has tokens of its own only, if it has a name', async () => {
    const context = await start(register(), register('partners'));
    const [own, partners] = [moduleWith(undefined, context), moduleWith('partners', context)];
    for (const provided of [SessionAuthService, SessionAuthEvents, SessionAuthGuard]) {
      expect([own.providers.has(provided), partners.providers.has(provided)]).toEqual([true, false]);
      expect([own.exports.has(provided), partners.exports.has(provided)]).toEqual([true, false]);
    }
    const kinds = ['SessionAuthService', 'SessionAuthEvents', 'SessionHttpService'];
    expect([...partners.exports]).toEqual(kinds.map((kind) => `${kind}@partners`));
    await context.close();
  });
});

it.each([SessionAuthModule, ContextKindsModule])(
  '%p names what it injects, because a bundler may drop the metadata of the compiler',
  (module) => {
    expect(Reflect.getMetadata('self:paramtypes', module)).toHaveLength(module.length);
  },
);

/** An authority that has started nothing yet, and its parts. */
async function parts() {
  const context = await start(SessionAuthModule.forRoot(OPTIONS));
  const { instance, providers } = moduleWith(undefined, context);
  return {
    context,
    module: instance as unknown as SessionAuthModule,
    ...(providers.get(PARTS)?.instance as AuthorityParts),
  };
}

describe('an authority', () => {
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
