import { describe, expect, it } from '@jest/globals';
import { Scope, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { ApolloDriver, ApolloFederationDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule, Query, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import { Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import type { RunningApp } from '../../support/platforms.js';
import { testbed } from '../../support/testbed.js';
import { outcomeOf, visit, type AuditedApp } from './audited-app.js';

@Resolver()
class OpenQuery {
  @Query('featured') @Public() featured(): object {
    return { id: 1 };
  }
}

@Resolver('Opening')
@UseGuards(SessionAuthGuard)
class GuardedClass {
  @Query('openings') openings(): object[] {
    visit('GuardedClass.openings');
    return [{ id: 1 }];
  }

  @ResolveField('title') title(): string {
    return visit('GuardedClass.title');
  }
}

@Resolver('Opening')
@Roles('boss')
class RuledClass {
  @Query('openings') openingsForBosses(): object[] {
    visit('RuledClass.openingsForBosses');
    return [{ id: 1 }];
  }

  @ResolveField('title') titleForBosses(): string {
    return visit('RuledClass.titleForBosses');
  }
}

@Resolver('Opening')
class RuledField {
  @Query('openings') @UseGuards(SessionAuthGuard) openings(): object[] {
    visit('RuledField.openings');
    return [{ id: 1 }];
  }

  @ResolveField('title') @Roles('boss') titleForBosses(): string {
    return visit('RuledField.titleForBosses');
  }
}

@Resolver('Opening')
@UseGuards(SessionAuthGuard)
class OpenField {
  @ResolveField('title') @Public() title(): string {
    return 'title';
  }
}

@Resolver('Opening')
class PlainField {
  @ResolveField('title') title(): string {
    return visit('PlainField.title');
  }
}

@Resolver({ scope: Scope.REQUEST } as never)
class RequestScopedQuery extends OpenQuery {}

@Resolver('Company')
@UseGuards(SessionAuthGuard)
class NestedClass {
  @ResolveField('name') name(): string {
    return visit('NestedClass.name');
  }
}

@Resolver('Named')
@UseGuards(SessionAuthGuard)
class UnreachedClass {
  @ResolveField('__resolveType') __resolveType(): string {
    return 'Company';
  }
}

@Resolver('Opening')
@UseGuards(SessionAuthGuard)
class Reference {
  @ResolveReference() resolveReference(): object {
    visit('Reference.resolveReference');
    return { id: 1 };
  }
}

@Resolver('Opening')
class OpenReference {
  @ResolveReference() @Public() resolveReference(): object {
    return { id: 1 };
  }
}

const TYPES = `
  interface Named { name: String }
  type Company implements Named { name: String }
  type Opening KEY { id: Int title: String company: Company }
  type Query { openings: [Opening] featured: Opening company: Named }`;
const SELECTION = '{ id title company { name } }';
const QUERIES = ['openings', 'featured'].map((field) => `{ ${field} ${SELECTION} }`);
const ENTITIES = `{ _entities(representations: [{ __typename: "Opening", id: 1 }]) { ... on Opening ${SELECTION} } }`;

function graphql(fieldResolverEnhancers: 'guards'[] = []): DynamicModule {
  return GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, typeDefs: TYPES.replace('KEY', ''), fieldResolverEnhancers });
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
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { 'x-auth-token': token }) };
  for (const query of [...QUERIES, ENTITIES]) {
    const reply = await fetch(`${app.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    await reply.text();
  }
}

const all = { options: { protectAllRoutes: true } };
const serving = (module: () => DynamicModule, providers: Type[], more: Partial<AuditedApp> = {}) => {
  return (): AuditedApp => ({ imports: [module()], providers, call, ...more });
};

describe('an application with GraphQL', () => {
  const bed = testbed();

  it.each<[string, () => AuditedApp, string[]]>([
    ['guarded queries', serving(graphql, [GuardedClass]), ['GuardedClass.openings', 'GuardedClass.title']],
    [
      'a rule on the class of queries and fields',
      serving(graphql, [RuledClass]),
      ['RuledClass.openingsForBosses', 'RuledClass.titleForBosses'],
    ],
    ['guards on fields', serving(() => graphql(['guards']), [GuardedClass, OpenQuery]), ['GuardedClass.openings', 'GuardedClass.title']],
    ['rules and guards on fields', serving(() => graphql(['guards']), [RuledField]), ['RuledField.openings', 'RuledField.titleForBosses']],
    ['public fields', serving(graphql, [OpenField, OpenQuery]), []],
    ['public fields in a closed application', serving(graphql, [OpenField, OpenQuery], all), []],
    ['a guarded type that no query returns', serving(graphql, [UnreachedClass]), []],
    [
      'a subgraph with guards on fields',
      serving(() => subgraph(['guards']), [Reference, GuardedClass]),
      ['GuardedClass.openings', 'GuardedClass.title', 'Reference.resolveReference'],
    ],
    ['a public reference', serving(subgraph, [OpenReference]), []],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service())).toEqual({ open: [], served, named: [], isStopped: false });
  });

  it.each<[string, () => AuditedApp, string[]]>([
    ['fields of a guarded class below a public query', serving(graphql, [GuardedClass, OpenQuery]), ['GuardedClass.title']],
    [
      'fields of a guarded class below a query built for each request',
      serving(graphql, [GuardedClass, RequestScopedQuery]),
      ['GuardedClass.title'],
    ],
    ['a rule on a field', serving(graphql, [RuledField]), ['RuledField.titleForBosses']],
    ['a rule on a class below a public query', serving(graphql, [RuledClass, OpenQuery]), ['RuledClass.titleForBosses']],
    ['fields below a public query in a closed application', serving(graphql, [PlainField, OpenQuery], all), ['PlainField.title']],
    ['fields of a subgraph', serving(subgraph, [GuardedClass]), ['GuardedClass.title']],
    ['a guarded reference', serving(subgraph, [Reference]), ['Reference.resolveReference']],
    [
      'references and fields of a closed subgraph',
      serving(subgraph, [Reference, PlainField], all),
      ['PlainField.title', 'Reference.resolveReference'],
    ],
  ])('is stopped by the audit, which names what is open, with %s', async (_case, create, open) => {
    expect(await outcomeOf(create, await bed.service())).toMatchObject({ open, named: open, isStopped: true });
  });
});
