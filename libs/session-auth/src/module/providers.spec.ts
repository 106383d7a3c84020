import { describe, expect, it } from '@jest/globals';
import {
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, NestFactory } from '@nestjs/core';
import { SessionHttpService } from '../client/session-http.service.js';
import { GUARD_REGISTRATION, type GuardRegistration } from '../guard/guard-registration.js';
import { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SessionAuthModule } from './session-auth.module.js';

@Injectable()
class Consumer {
  constructor(
    readonly service: SessionAuthService,
    readonly events: SessionAuthEvents,
    readonly guard: SessionAuthGuard,
    readonly http: SessionHttpService,
    @Inject(GUARD_REGISTRATION) readonly parts: GuardRegistration,
  ) {}
}

@Module({})
class Root {}
@Module({ providers: [Consumer] })
class Feature {}

function start(...imports: Type[]): Promise<INestApplicationContext> {
  const registration = SessionAuthModule.forRoot({
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'key',
  });
  const root: DynamicModule = { module: Root, imports: [registration, ...imports] };
  return NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
}

describe('a registration', () => {
  it('provides its classes to every module', async () => {
    const context = await start(Feature);
    const { service, events, guard, http, parts } = context.get(Consumer);
    expect([service, events, guard, http]).toEqual(
      [SessionAuthService, SessionAuthEvents, SessionAuthGuard, SessionHttpService].map(
        (type) => expect.any(type) as unknown,
      ),
    );
    expect(parts).toMatchObject({ registrations: undefined });
    await context.close();
  });

  it('has its filter of errors below those of the application', async () => {
    const context = await start();
    const filters = context.get(ApplicationConfig).getGlobalFilters();
    expect(filters).toEqual([expect.any(SessionAuthErrorFilter)]);
    expect(filters[0]).toBe(context.get(SessionAuthErrorFilter));
    await context.close();
  });
});
