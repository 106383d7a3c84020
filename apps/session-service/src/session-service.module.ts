import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Kysely } from 'kysely';
import { AuthenticationModule } from './authentication/authentication.module.js';
import { type Schema } from './database/schema.js';
import { EmptyErrorFilter } from './http/empty-error.filter.js';
import { SessionLimits } from './sessions/session-limits.js';

/** The whole service over an opened database. */
@Module({})
export class SessionServiceModule {
  /**
   * @param database - opened and migrated; whoever opened it closes it after the application
   * @param limits - of the sessions
   */
  static over(database: Kysely<Schema>, limits: SessionLimits): DynamicModule {
    return {
      module: SessionServiceModule,
      global: true,
      imports: [AuthenticationModule],
      providers: [
        { provide: Kysely, useValue: database },
        { provide: SessionLimits, useValue: limits },
        { provide: APP_FILTER, useClass: EmptyErrorFilter },
      ],
      exports: [Kysely, SessionLimits],
    };
  }
}
