import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger, Module, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { ContextKindsModule } from '../module/context-kinds.module.js';
import { REPLACED_OPTION } from '../guard/handlers.js';
import { KIND } from './graphql-kind.js';

interface GraphqlOptions {
  context?: unknown;
}

function graphqlModule(options: unknown, completeOptions?: object): Type {
  @Module({ providers: [{ provide: 'GqlModuleOptions', useValue: options }] })
  class GraphqlModule {
    readonly completeOptions = completeOptions;
  }
  return GraphqlModule;
}

/** An application without {@link ContextKindsModule}, whose effect the test triggers. */
async function modulesOf(...imports: Type[]): Promise<ModulesContainer> {
  @Module({ imports })
  class Root {}
  return (await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false })).get(
    ModulesContainer,
  );
}

function separate(modules: ModulesContainer): void {
  for (const { providers, instance } of modules.values()) {
    const options = providers.get('GqlModuleOptions')?.instance as object | undefined;
    if (options) KIND.prepareModule?.(instance, options);
  }
}
const contextOf = ({ context }: GraphqlOptions, request: object): unknown =>
  (context as (arguments_: object) => unknown)({ req: request });

describe('the contexts of GraphQL requests', () => {
  let warnings: unknown[][];
  beforeEach(() => {
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(function (
      this: { context?: string },
      ...line: unknown[]
    ) {
      warnings.push([this.context, ...line]);
    });
  });
  afterEach(() => void jest.restoreAllMocks());

  it('are separated in each GraphQLModule, with or without a context of the application', async () => {
    const [shared, empty]: GraphqlOptions[] = [{ context: { tenant: 'acme' } }, {}];
    separate(await modulesOf(graphqlModule(shared, {}), graphqlModule(empty)));
    const [first, second] = [
      await contextOf(shared ?? {}, { url: '/1' }),
      await contextOf(shared ?? {}, { url: '/2' }),
    ];
    expect([first, second]).toEqual([
      expect.objectContaining({ tenant: 'acme' }),
      expect.objectContaining({ tenant: 'acme' }),
    ]);
    expect(second).not.toBe(first);
    expect(await contextOf(empty ?? {}, {})).toEqual(expect.any(Object));
  });

  it('are separated by a global module, which Nest initialises before GraphQLModule', async () => {
    const contexts: unknown[] = [];
    const options: GraphqlOptions = {};
    @Module({ providers: [{ provide: 'GqlModuleOptions', useValue: options }] })
    class GraphqlModule {
      onModuleInit(): void {
        contexts.push(options.context);
      }
    }
    await modulesOf(GraphqlModule, ContextKindsModule);
    expect(contexts).toEqual([expect.any(Function)]);
  });

  it('are separated once, however many registrations an application has', async () => {
    const options: GraphqlOptions = { context: () => ({}) };
    const modules = await modulesOf(graphqlModule(options));
    separate(modules);
    const { context } = options;
    separate(modules);
    expect(options.context).toBe(context);
  });

  it('that are one object cause one warning for each GraphQLModule', async () => {
    class Context {
      readonly tenant = 'acme';
    }
    const both: GraphqlOptions[] = [new Context(), new Context()].map((context) => ({
      context: () => context,
    }));
    separate(await modulesOf(...both.map((options) => graphqlModule(options))));
    for (const options of both) await contextOf(options, { url: '/1' });
    expect(warnings).toEqual([]);

    for (const options of both) for (const url of ['/2', '/3']) await contextOf(options, { url });
    const warning = [
      'SessionAuth',
      expect.stringMatching(/^audit: the context function of GraphQLModule returns one object/),
    ];
    expect(warnings).toEqual([warning, warning]);
  });

  it.each<[string, object, object, RegExp]>([
    [
      'are frozen',
      Object.freeze({ context: {} }),
      {},
      /^SessionAuthModule: the options of GraphQLModule are frozen, .* or leave out context\.$/,
    ],
    [
      'were read before',
      { context: {} },
      { path: '/graphql' },
      /^SessionAuthModule: GraphQLModule was initialized before, .* Import SessionAuthModule first,/,
    ],
    [
      'are frozen and were read before',
      Object.freeze({ context: {} }),
      { path: '/graphql' },
      /^SessionAuthModule: GraphQLModule was initialized before, /,
    ],
  ])(
    'cannot be separated if the options of GraphQLModule %s',
    async (_what, options, completeOptions, message) => {
      const modules = await modulesOf(graphqlModule(options, completeOptions));
      let error: unknown;
      try {
        separate(modules);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect((error as Error).message).toMatch(message);
    },
  );

  it.each<[string, object, object]>([
    ['are frozen', Object.freeze({}), {}],
    ['were read before', {}, { path: '/graphql' }],
  ])(
    'are those of Nest if the options of GraphQLModule %s and have no context',
    async (_what, options, completeOptions) => {
      const modules = await modulesOf(graphqlModule(options, completeOptions));
      expect(() => separate(modules)).not.toThrow();
    },
  );
});

describe('the function that separates the contexts', () => {
  it('keeps what it replaces', async () => {
    const [given, absent]: GraphqlOptions[] = [{ context: (): object => ({}) }, {}];
    const context = given?.context;
    separate(await modulesOf(graphqlModule(given), graphqlModule(absent)));
    const kept = [given, absent].map(
      (options) => Reflect.get(options?.context ?? {}, REPLACED_OPTION) as unknown,
    );
    expect(kept).toEqual([context, undefined]);
  });
});
