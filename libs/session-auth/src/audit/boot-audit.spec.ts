import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Controller, Global, Logger, Module, type Type, UseGuards } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { InvalidConfigurationError } from '../contract/errors.js';
import { OptionalAuth, Public, Roles } from '../guard/access.decorators.js';
import { REPLACED_OPTION } from '../guard/handlers.js';
import { GUARD_REGISTRATION } from '../guard/guard-registration.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { auditApplication } from './boot-audit.js';

/**
 * Has the parts of the guards that decorators apply. Nest creates these guards, and nothing calls them here.
 */
@Global()
@Module({ providers: [{ provide: GUARD_REGISTRATION, useValue: {} }], exports: [GUARD_REGISTRATION] })
class PartsModule {}

/** A controller with this number of contradictory handlers, which the decorators complete. */
function contradicting(count: number, ...decorators: (MethodDecorator & ClassDecorator)[]): Type {
  @Controller()
  class Handlers {
    readonly count = count;
  }
  for (let index = 1; index <= count; index += 1) {
    const name = `handle${index}`;
    const descriptor: TypedPropertyDescriptor<() => string> = { value: () => name, configurable: true };
    Object.defineProperty(Handlers.prototype, name, descriptor);
    for (const decorate of [MessagePattern(name), OptionalAuth(), Roles('admin'), ...decorators])
      decorate(Handlers.prototype, name, descriptor);
  }
  return Handlers;
}

function graphqlModule(options: unknown): Type {
  @Module({ providers: [{ provide: 'GqlModuleOptions', useValue: options }] })
  class GraphqlModule {}
  return GraphqlModule;
}

async function modulesOf(providers: Type[], imports: Type[] = []): Promise<ModulesContainer> {
  @Module({ imports: [PartsModule, ...imports], providers })
  class Root {}
  return (await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false })).get(
    ModulesContainer,
  );
}

/** The configuration of an application on a version of Nest. */
function configOf(isNest12: boolean): ApplicationConfig {
  return new Proxy(new ApplicationConfig(), {
    has: (config, key) => (key === 'getGlobalPreRequestHooks' ? isNest12 : key in config),
  });
}

describe('the audit at bootstrap', () => {
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

  async function run(
    modules: ModulesContainer,
    audit: 'warn' | 'error' = 'warn',
    isNest12 = true,
  ): Promise<unknown> {
    warnings = [];
    try {
      await auditApplication(modules, configOf(isNest12), {
        audit,
        baseUrl: 'https://sessions.example.com/api',
      });
    } catch (error) {
      return error;
    }
    return warnings;
  }
  const warningOf = (handler: string): unknown[] => [
    'SessionAuth',
    expect.stringMatching(new RegExp(`^audit: Handlers\\.${handler} has @OptionalAuth\\(\\), `)),
  ];

  it.each([
    [50, 50, 'handle50'],
    [53, 51, '... and 3 more.'],
  ])('has at most 50 findings: of %i, %i lines', async (count, lineCount, last) => {
    const lines = (await run(await modulesOf([contradicting(count)]))) as unknown[][];
    expect(lines).toHaveLength(lineCount);
    expect(String(lines.at(-1)?.[1])).toContain(last);
    expect(lines[49]).toEqual(warningOf('handle50'));
  });

  it("of an application with several registrations warns once, and stops the start of each with 'error'", async () => {
    const modules = await modulesOf([contradicting(2)]);
    expect([await run(modules), await run(modules)]).toEqual([
      [warningOf('handle1'), warningOf('handle2')],
      [],
    ]);
    const error = await run(modules, 'error');
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(String(error)).toMatch(
      /: the audit found\n {2}Handlers\.handle1 has [^\n]+\n {2}Handlers\.handle2 has /,
    );
  });

  it('says once what the handlers need, and for each registration what checks its sessions', async () => {
    @Controller()
    class Openings {
      @MessagePattern('list') @Roles('admin') list(): string {
        return 'list';
      }
      @MessagePattern('find') @UseGuards(SessionAuthGuard) find(): string {
        return 'find';
      }
      @MessagePattern('about') @OptionalAuth() about(): string {
        return 'about';
      }
      @MessagePattern('ping') @Public() ping(): string {
        return 'ping';
      }
      @MessagePattern('time') time(): string {
        return 'time';
      }
    }
    const modules = await modulesOf([Openings]);
    const lines: unknown[] = [];
    jest.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => void lines.push(line));
    const config = configOf(true);
    const baseUrl = 'https://sessions.example.com:8443/api';
    await auditApplication(modules, config, { audit: 'warn', baseUrl });
    await auditApplication(modules, config, { audit: 'warn', baseUrl, cache: { ttlMs: 30_000 } });
    const cache = { ttlMs: 1_000, store: {} };
    await auditApplication(modules, config, { audit: 'error', baseUrl, cache });
    expect(lines).toEqual([
      'start: handlers: 2 protected, 1 optional, 1 public, 1 unguarded; session service: sessions.example.com:8443; cache: none; store: none',
      'start: session service: sessions.example.com:8443; cache: 30000 ms; store: none',
      'start: session service: sessions.example.com:8443; cache: 1000 ms; store: yes',
    ]);
  });

  class ApolloDriver {
    readonly name = 'driver';
  }
  class MercuriusDriver extends ApolloDriver {}
  const SHARED = { tenant: 'acme' };
  const replacing = (context: unknown): object => Object.assign(() => ({}), { [REPLACED_OPTION]: context });

  it.each<[string, unknown, boolean, boolean]>([
    ['an object on NestJS 11', { context: SHARED, driver: ApolloDriver }, false, true],
    ['an object with Mercurius', { context: SHARED, driver: MercuriusDriver }, true, true],
    ['an object that a function has replaced', { context: replacing(SHARED) }, true, true],
    ['a function that a function has replaced', { context: replacing(() => SHARED) }, true, false],
    ['an object, which NestJS 12 copies', { context: SHARED, driver: ApolloDriver }, true, false],
    ['a function', { context: () => SHARED, driver: MercuriusDriver }, false, false],
    ['null', { context: null, driver: MercuriusDriver }, false, false],
  ])(
    'warns of a context that the requests of GraphQL share: %s',
    async (_what, options, isNest12, isShared) => {
      const modules = await modulesOf([], [graphqlModule(options)]);
      const warning = [
        'SessionAuth',
        expect.stringMatching(/^audit: GraphQLModule has one object as its context, for all requests\./),
      ];
      expect(await run(modules, 'warn', isNest12)).toEqual(isShared ? [warning] : []);
    },
  );
});
