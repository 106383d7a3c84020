import { describe, expect, it } from '@jest/globals';
import type { DynamicModule, Type } from '@nestjs/common';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { ApolloDriver, ApolloFederationDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule } from '@nestjs/graphql';
import type { RunningApp } from '../../support/platforms.js';
import { testbed } from '../../support/testbed.js';
import { askGraphql, outcomeOf, type AuditedApp } from './audited-app.js';
import {
  OpenQuery,
  GuardedClass,
  RuledField,
  PlainField,
  RequestScopedQuery,
  NestedClass,
  SiblingClass,
  OpenUnionQuery,
  Reference,
} from './audited-resolvers.js';

const TYPES = `
  interface Named { name: String }
  type Company implements Named { name: String }
  type Sibling implements Named { name: String }
  union Found = Opening | Company
  type Opening KEY { id: Int title: String company: Company }
  type Query { openings: [Opening] featured: Opening named: Named search: Found }`;
const SELECTION = '{ id title company { name } }';
const QUERIES = ['openings', 'featured'].map((field) => `{ ${field} ${SELECTION} }`);
const ENTITIES = `{ _entities(representations: [{ __typename: "Opening", id: 1 }]) { ... on Opening ${SELECTION} } }`;

function graphql(fieldResolverEnhancers: 'guards'[] = []): DynamicModule {
  return GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    typeDefs: TYPES.replace('KEY', ''),
    fieldResolverEnhancers,
  });
}

function subgraph(fieldResolverEnhancers: 'guards'[] = []): DynamicModule {
  const typeDefs = TYPES.replace('KEY', '@key(fields: "id")');
  return GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloFederationDriver,
    typeDefs,
    fieldResolverEnhancers,
    plugins: [ApolloServerPluginInlineTraceDisabled()],
  });
}

async function call(app: RunningApp, token: string | undefined): Promise<void> {
  const others = ['{ named { name } }', '{ search { ... on Company { name } } }', ENTITIES];
  for (const query of [...QUERIES, ...others]) await askGraphql(app, token, query);
}

const all = { options: { protectAllRoutes: true } };
const serving = (module: () => DynamicModule, providers: Type[], more: Partial<AuditedApp> = {}) => {
  return (): AuditedApp => ({ imports: [module()], providers, call, ...more });
};

describe('an application with GraphQL', () => {
  const bed = testbed();

  it.each<[string, () => AuditedApp, string[]]>([
    [
      'rules and guards on fields',
      serving(() => graphql(['guards']), [RuledField]),
      ['RuledField.openings', 'RuledField.titleForBosses'],
    ],
    [
      'a guarded type beside one that a public query returns',
      serving(graphql, [SiblingClass, OpenQuery]),
      [],
    ],
    [
      'a subgraph with guards on fields',
      serving(() => subgraph(['guards']), [Reference, GuardedClass]),
      ['GuardedClass.openings', 'GuardedClass.title', 'Reference.resolveReference'],
    ],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service())).toEqual({
      open: [],
      served,
      named: [],
      isStopped: false,
    });
  });

  it.each<[string, () => AuditedApp, string[]]>([
    [
      'fields of a guarded class below a query built for each request',
      serving(graphql, [GuardedClass, RequestScopedQuery]),
      ['GuardedClass.title'],
    ],
    ['a guarded type in a union', serving(graphql, [NestedClass, OpenUnionQuery]), ['NestedClass.name']],
    [
      'fields below a public query in a closed application',
      serving(graphql, [PlainField, OpenQuery], all),
      ['PlainField.title'],
    ],
    [
      'references and fields of a closed subgraph',
      serving(subgraph, [Reference, PlainField], all),
      ['PlainField.title', 'Reference.resolveReference'],
    ],
  ])('is stopped by the audit, which names the open fields, with %s', async (_case, create, open) => {
    expect(await outcomeOf(create, await bed.service())).toMatchObject({
      open,
      named: open,
      isStopped: true,
    });
  });
});
