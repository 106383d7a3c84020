import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Kysely } from 'kysely';
import { AuthenticationModule } from './authentication/authentication.module.js';
import { type Schema } from './database/schema.js';
import { EmptyErrorFilter } from './http/empty-error.filter.js';
import { SessionLimits } from './sessions/session-limits.js';
import { SignInLimits } from './sign-in-limits/sign-in-limits.js';

/** The complete service. */
@Module({})
export class SessionServiceModule {
  /**
   * @param database - open and migrated; the caller closes it after the application
   * @param limits - of the sessions
   * @param signInLimits - of failed sign-ins
   */
  static over(
    database: Kysely<Schema>,
    limits: SessionLimits,
    signInLimits = new SignInLimits(),
  ): DynamicModule {
    return {
      module: SessionServiceModule,
      global: true,
      imports: [AuthenticationModule],
      providers: [
        { provide: Kysely, useValue: database },
        { provide: SessionLimits, useValue: limits },
        { provide: SignInLimits, useValue: signInLimits },
        { provide: APP_FILTER, useClass: EmptyErrorFilter },
      ],
      exports: [Kysely, SessionLimits, SignInLimits],
    };
  }
}
