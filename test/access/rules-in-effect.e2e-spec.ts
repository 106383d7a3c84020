import { describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  Injectable,
  Scope,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type DynamicModule,
  type ExecutionContext,
  type Provider,
  type Type,
} from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { AcknowledgeAudit } from 'nestjs-session-auth/diagnostics';
import { accessMapOf } from 'nestjs-session-auth/testing';
import type { Observable } from 'rxjs';
import { postGraphql } from '../graphql/graphql-client.js';
import { outcomeOf, visit, type AuditedApp } from '../module/audit/audited-app.js';
import { CapturedLog } from '../support/captured-log.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

@Resolver()
class Ruled {
  @Query('openings') @Roles('boss') openingsForBosses(): number[] {
    visit('Ruled.openingsForBosses');
    return [1];
  }
}

const graphql = (): DynamicModule =>
  GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    typeDefs: 'type Query { openings: [Int] others: Int }',
  });

async function ask({ url }: RunningApp, token: string | undefined): Promise<void> {
  await (await postGraphql(url, { query: '{ openings }' }, token)).text();
}

const resolving = (providers: Provider[]) => {
  return (): AuditedApp => ({ imports: [graphql()], providers, call: ask });
};

const BY_FACTORY = { provide: Ruled, useFactory: () => new Ruled() };

@Controller('list')
class RuledList {
  @Get() @Roles('boss') listForBosses(): string {
    return visit('RuledList.listForBosses');
  }
}

/** As a tracing package does: another function in the place of the method, without its metadata. */
function wrapped(_target: object, _name: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as () => string;
  descriptor.value = function traced(this: unknown): string {
    return method.call(this);
  };
}

@Controller('list')
class Wrapped {
  @Get() @wrapped @Roles('boss') listForBosses(): string {
    return visit('Wrapped.listForBosses');
  }
}

@Controller('list')
class Bound extends RuledList {
  constructor() {
    super();
    this.listForBosses = this.listForBosses.bind(this);
  }
}

@Controller({ path: 'list', scope: Scope.REQUEST })
@UseGuards(SessionAuthGuard)
class GuardedPerRequest extends Bound {}

@Controller('list')
class Unruled {
  @Get() listForBosses(): string {
    return visit('Unruled.listForBosses');
  }
}

@Controller('list')
class Ruling extends Unruled {
  @Get() @Roles('boss') override listForBosses(): string {
    return visit('Ruling.listForBosses');
  }
}

const listing = (...controllers: Type[]) => {
  return (): AuditedApp => ({ controllers, call: (app, token) => app.get('/list', token) });
};

describe.each(platforms('Fastify'))('an application on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each<[string, () => AuditedApp, string]>([
    ['a resolver with a rule by useFactory', resolving([BY_FACTORY]), 'Ruled'],
  ])('does not start with %s [P31]', async (_case, create, name) => {
    const outcome = await outcomeOf(create, await bed.service(), platform);
    expect(outcome).toMatchObject({ named: [`${name}.openingsForBosses`], isStoppedByDefault: true });
    expect(outcome.open).toHaveLength(1);
  });

  it.each<[string, () => AuditedApp, string]>([
    ['a decorator that wraps the handler above its rule', listing(Wrapped), 'Wrapped'],
    ['a constructor that binds a handler with a rule', listing(Bound), 'Bound'],
  ])('does not start with %s [P32]', async (_case, create, name) => {
    const outcome = await outcomeOf(create, await bed.service(), platform);
    expect(outcome).toMatchObject({
      named: [expect.stringMatching(new RegExp(`^${name}[.]`))],
      isStoppedByDefault: true,
    });
    expect(outcome.open).toHaveLength(1);
  });

  it.each<[string, () => AuditedApp, string[]]>([
    [
      'a bound handler of a guarded, scoped controller',
      listing(GuardedPerRequest),
      ['RuledList.listForBosses'],
    ],
  ])('starts, is closed and passes the audit with %s', async (_case, create, served) => {
    const outcome = await outcomeOf(create, await bed.service(), platform);
    expect(outcome).toEqual({ open: [], served, named: [], isStopped: false });
  });
});

describe('an application on Express, which serves the first of two routes', () => {
  const bed = testbed();

  it('does not start if the first one does not have the rule of the other [P32]', async () => {
    const outcome = await outcomeOf(listing(Unruled, Ruling), await bed.service());
    expect(outcome).toMatchObject({
      open: ['Unruled.listForBosses'],
      named: ['Ruling.listForBosses'],
      isStoppedByDefault: true,
    });
  });
});

@Injectable()
class CacheInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Controller()
class Holidays {
  @Get('holidays')
  @AcknowledgeAudit('the same for all users')
  @UseInterceptors(CacheInterceptor)
  @UseGuards(SessionAuthGuard)
  holidays(): string {
    return 'holidays';
  }
}

describe.each(platforms('Fastify'))('an acknowledged warning of the audit on %s', (_name, platform) => {
  const bed = testbed(platform);

  it("is not logged, does not stop the application, and is in the access map, with audit: 'error'", async () => {
    const logger = new CapturedLog();
    const options = { audit: 'error' } as const;
    const sample = { baseUrl: 'http://127.0.0.1:1', controllers: [Holidays], options };
    const { app } = await bed.sample(sample, { logger });
    expect(logger.having('warn', 'audit')).toEqual([]);
    const acknowledged = 'the same for all users';
    expect(accessMapOf(app)).toMatchObject([{ call: 'GET /holidays', access: 'protected', acknowledged }]);
  });
});
