import { describe, expect, it } from '@jest/globals';
import { Controller, Module, type Provider, type Type, UseGuards } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { GraphQLSchemaHost, Query } from '@nestjs/graphql';
import { buildSchema } from 'graphql';
import { GUARD_REGISTRATION } from '../guard/guard-registration.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { auditContextOf, type AuditContext } from './audit-context.js';
import { BEYOND_ROUTES } from './beyond-routes.js';

/**
 * A module that provides what GraphQLModule does: its options, and the host of a schema that it has built or
 * not.
 */
function graphqlModule(options: unknown, schema?: string): Type {
  const host = new GraphQLSchemaHost();
  if (schema !== undefined) host.schema = withResolvers(schema);
  const providers: Provider[] = [
    { provide: 'GqlModuleOptions', useValue: options },
    { provide: GraphQLSchemaHost, useValue: host },
  ];
  @Module({ providers })
  class GraphqlModule {}
  return GraphqlModule;
}

function withResolvers(types: string): GraphQLSchemaHost['schema'] {
  const schema = buildSchema(types);
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {}))
    field.resolve = () => undefined;
  return schema;
}

async function contextOf(imports: Type[], config = new ApplicationConfig()): Promise<AuditContext> {
  @Module({ imports })
  class Root {}
  const app = await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  return auditContextOf(app.get(ModulesContainer), config, BEYOND_ROUTES);
}

describe('the context of the audit', () => {
  it('has the guards and interceptors of the whole application that Nest creates for each request', async () => {
    class Interceptor {
      intercept = (): undefined => undefined;
    }
    const config = new ApplicationConfig();
    const wrapperOf = (metatype: unknown): InstanceWrapper<never> =>
      new InstanceWrapper({ metatype: metatype as never });
    config.addGlobalRequestGuard(wrapperOf(SessionAuthGuard));
    config.addGlobalRequestInterceptor(wrapperOf(Interceptor));
    @Controller()
    class Openings {
      @Query()
      openings(): string {
        return 'openings';
      }
    }
    @Module({ controllers: [Openings] })
    class Feature {}
    expect(await contextOf([Feature], config)).toMatchObject({
      handlers: [{ owner: Openings, guards: [SessionAuthGuard] }],
      interceptors: [Interceptor],
    });
  });

  it('has the guards of a field of a controller, which GraphQL does not map, by its module', async () => {
    @Controller()
    @UseGuards(SessionAuthGuard)
    class Openings {
      @Query()
      openings(): string {
        return 'openings';
      }
    }
    @Module({ controllers: [Openings], providers: [{ provide: GUARD_REGISTRATION, useValue: {} }] })
    class Feature {}
    const { handlers } = await contextOf([Feature]);
    expect(handlers).toMatchObject([{ owner: Openings, guards: [SessionAuthGuard] }]);
  });

  const [guarded, others] = [
    { fieldResolverEnhancers: ['interceptors', 'guards'] },
    { fieldResolverEnhancers: ['filters'] },
  ];

  it.each<[string, unknown[], boolean]>([
    ['it runs others', [others], false],
    ['it runs them', [guarded], true],
    ['one of two modules runs them', [guarded, {}], false],
  ])('knows whether Nest runs guards on fields: %s', async (_which, options, fieldsAreGuarded) => {
    const modules = options.map((each) => graphqlModule(each));
    expect((await contextOf(modules)).fieldsAreGuarded).toBe(fieldsAreGuarded);
  });

  const SCHEMA = 'type Query { openings: Opening } type Opening { title: String }';
  const OPENINGS = { type: 'Query', name: 'openings', reaches: new Set(['Opening', 'String']) };

  it.each<[string, Type[], unknown]>([
    ['that it has built', [graphqlModule({}, SCHEMA)], [OPENINGS]],
    ['unless it has built none', [graphqlModule({})], undefined],
    ['unless two modules may have built one', [graphqlModule({}, SCHEMA), graphqlModule({})], undefined],
    ['unless there is no GraphQLModule', [], undefined],
  ])('has the root fields of the GraphQL schema %s', async (_which, modules, rootFields) => {
    expect((await contextOf(modules)).rootFields).toEqual(rootFields);
  });

  it('has no root fields if no module has the host of a schema', async () => {
    @Module({ providers: [{ provide: 'GqlModuleOptions', useValue: {} }] })
    class OldModule {}
    expect((await contextOf([OldModule])).rootFields).toBeUndefined();
  });

  it('ignores options of GraphQL that are not there', async () => {
    @Module({ providers: [{ provide: 'GqlModuleOptions', useFactory: () => undefined }] })
    class WithoutOptions {}
    expect(await contextOf([WithoutOptions, graphqlModule(guarded, SCHEMA)])).toMatchObject({
      fieldsAreGuarded: true,
      rootFields: [OPENINGS],
    });
  });
});
