import { expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { ApplicationConfig, NestFactory } from '@nestjs/core';
import { GUARD_REGISTRATION } from '../guard/guard-registration.js';
import { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
import { SessionAuthModule } from './session-auth.module.js';

@Module({})
class Root {}

it('a registration has its filter of errors below those of the application, and none of other registrations', async () => {
  const imports = [SessionAuthModule.forRoot({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key' })];
  const setup = { logger: false, abortOnError: false } as const;
  const context = await NestFactory.createApplicationContext({ module: Root, imports }, setup);
  const filters = context.get(ApplicationConfig).getGlobalFilters();
  expect(filters).toEqual([expect.any(SessionAuthErrorFilter)]);
  expect(filters[0]).toBe(context.get(SessionAuthErrorFilter));
  expect(context.get<unknown>(GUARD_REGISTRATION)).toMatchObject({ registrations: undefined });
  await context.close();
});
