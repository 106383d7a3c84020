import { describe, expect, it } from '@jest/globals';
import { Controller, Scope, UseGuards, type Type } from '@nestjs/common';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { ApolloDriver, ApolloFederationDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule, Query, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import { MessagePattern, type MicroserviceOptions } from '@nestjs/microservices';
import { fromPayload, Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { TCP, tcpClientOf } from '../../messages/openings.microservice.js';
import { sampleApp } from '../../support/sample-app.js';
import { testbed } from '../../support/testbed.js';
import { askGraphql, hybrid, outcomeOf, visit, type AuditedApp } from './audited-app.js';

@Resolver('Opening')
class OpeningsResolver {
  @ResolveReference() @Roles('boss') referenceForBosses(): object {
    visit('OpeningsResolver.referenceForBosses');
    return { id: 1 };
  }

  @ResolveField('salary') @Roles('boss') salaryForBosses(): string {
    return visit('OpeningsResolver.salaryForBosses');
  }
}

@Controller()
class MessagesController {
  @MessagePattern('ruled') @Roles('boss') ruledForBosses(): string {
    return visit('MessagesController.ruledForBosses');
  }

  @MessagePattern('plain') plain(): string {
    return visit('MessagesController.plain');
  }

  @MessagePattern('open') @Public() open(): string {
    return visit('MessagesController.open');
  }
}

@Controller({ scope: Scope.REQUEST })
class BoundWithRule extends MessagesController {
  constructor() {
    super();
    this.ruledForBosses = this.ruledForBosses.bind(this);
  }
}

@Controller({ scope: Scope.REQUEST })
class BoundWithGuard extends MessagesController {
  constructor() {
    super();
    this.plain = this.plain.bind(this);
    UseGuards(UnknownGuard)(Reflect.get(this, 'plain'));
  }
}
class UnknownGuard extends SessionAuthGuard {}

@Resolver('Company')
@UseGuards(SessionAuthGuard)
class GuardedCompany {
  @ResolveField('name') name(): string {
    return visit('GuardedCompany.name');
  }
}

@Resolver({ scope: Scope.REQUEST } as never)
class OpenSearch {
  @Query('search') @Public() search(): object {
    return { __typename: 'Company' };
  }
}

const searching = (found: string): AuditedApp => {
  const typeDefs = `type Company { name: String } type Place { name: String } union Found = ${found} type Query { search: Found company: Company }`;
  return {
    imports: [GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, typeDefs })],
    providers: [GuardedCompany, OpenSearch],
    call: (...asking) => askGraphql(...asking, '{ search { ... on Company { name } } }'),
  };
};

function subgraph(fieldResolverEnhancers: 'guards'[] = []): AuditedApp {
  const module = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloFederationDriver,
    typeDefs: 'type Opening @key(fields: "id") { id: Int salary: String }',
    fieldResolverEnhancers,
    plugins: [ApolloServerPluginInlineTraceDisabled()],
  });
  return {
    imports: [module],
    providers: [OpeningsResolver],
    call: (...asking) => askGraphql(...asking, ENTITIES),
  };
}

const ENTITIES =
  '{ _entities(representations: [{ __typename: "Opening", id: 1 }]) { ... on Opening { salary } } }';

const APP_GUARD_CLASS = { provide: APP_GUARD, useClass: SessionAuthGuard };
const CLOSED = { options: { protectAllRoutes: true } };
const places = (owner: Type, ...names: string[]): string[] => names.map((name) => `${owner.name}.${name}`);

describe('rules where Nest runs no guards', () => {
  const bed = testbed();

  it('references and fields of a subgraph are guarded, or the audit names them and stops the start [P05]', async () => {
    const service = await bed.service();
    const both = places(OpeningsResolver, 'referenceForBosses', 'salaryForBosses');
    const stopped = { isStopped: true, isStoppedByDefault: true };
    const ofStranger = { open: both, served: both, named: both };
    expect(await outcomeOf(() => subgraph(), service)).toEqual({ ...ofStranger, ...stopped });
    const guarded = { open: [], served: both, named: [], isStopped: false };
    expect(await outcomeOf(() => subgraph(['guards']), service)).toEqual(guarded);
  });

  it('a guarded type that a public query returns stops the start, unless the query returns other types only', async () => {
    const service = await bed.service();
    const name = places(GuardedCompany, 'name');
    const reached = { open: name, served: name, named: name, isStopped: true };
    expect(await outcomeOf(() => searching('Place | Company'), service)).toEqual(reached);
    const unreached = { open: [], served: [], named: [], isStopped: false };
    expect(await outcomeOf(() => searching('Place'), service)).toEqual(unreached);
  });

  it('message handlers are closed where a microservice is connected without inheritAppConfig [P06]', async () => {
    const service = await bed.service();
    const asking = (options: NonNullable<AuditedApp['options']>) => () =>
      hybrid(MessagesController, ['ruled', 'plain', 'open'], { options });
    const served = places(MessagesController, 'open', 'plain', 'ruledForBosses');
    const passing = { served, named: [], isStopped: false };
    const open = places(MessagesController, 'open', 'plain');
    expect(await outcomeOf(asking({}), service)).toEqual({ open, ...passing });
    const closed = await outcomeOf(asking({ protectAllRoutes: true }), service);
    // A session of any role is enough for the handler without a rule.
    expect(closed).toEqual({ open: places(MessagesController, 'open'), ...passing });
  });

  it.each<[string, Type, Partial<AuditedApp>, boolean]>([
    ['inheritAppConfig', MessagesController, CLOSED, true],
    ['APP_GUARD', MessagesController, { providers: [APP_GUARD_CLASS] }, false],
    ['a controller for each message that binds a method with a rule', BoundWithRule, CLOSED, false],
    [
      'a controller for each message that names a guard for the method that it binds',
      BoundWithGuard,
      CLOSED,
      false,
    ],
  ])('message handlers are closed with %s', async (_how, controller, more, inherit) => {
    const create = (): AuditedApp => hybrid(controller, ['ruled', 'plain'], more, inherit);
    const served = places(MessagesController, 'plain', 'ruledForBosses');
    const expected = { open: [], served, named: [], isStopped: false };
    expect(await outcomeOf(create, await bed.service())).toEqual(expected);
  });
});

describe('a microservice of its own', () => {
  const bed = testbed();

  it('is closed with protectAllRoutes, and answers public messages', async () => {
    const service = await bed.service();
    const options = { token: fromPayload('token'), audit: 'error', protectAllRoutes: true } as const;
    const root = sampleApp({ baseUrl: service.url, options, controllers: [MessagesController] });
    // With a snapshot Nest inspects the contents of every module.
    const setup = { logger: false, abortOnError: false, snapshot: true } as const;
    const messages = await NestFactory.createMicroservice<MicroserviceOptions>(root, { ...TCP, ...setup });
    await messages.listen();
    const client = tcpClientOf(messages);
    const ask = async (pattern: string, role?: string): Promise<unknown> => {
      const token = role === undefined ? undefined : service.signInAs({ role });
      const reply = firstValueFrom(client.send<string>(pattern, { token }));
      return reply.catch((error: unknown) => (error as { code: string }).code);
    };
    expect([await ask('plain'), await ask('ruled', 'clerk')]).toEqual(['SESSION_REQUIRED', 'ACCESS_DENIED']);
    const served = places(MessagesController, 'plain', 'ruledForBosses', 'open');
    expect([await ask('plain', 'clerk'), await ask('ruled', 'boss'), await ask('open')]).toEqual(served);
    await client.close();
    await messages.close();
  });
});
