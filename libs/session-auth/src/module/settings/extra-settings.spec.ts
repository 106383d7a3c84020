import { afterEach, describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { SessionAuthModule } from '../session-auth.module.js';

const OPTIONS = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };

const main = (extras: object): DynamicModule => SessionAuthModule.forRoot({ ...OPTIONS, ...extras });
const asynchronous = (extras: object): DynamicModule =>
  SessionAuthModule.forRootAsync({ useFactory: () => OPTIONS, ...extras });

@Module({})
class Root {}

describe('an extra of a registration', () => {
  let started: INestApplicationContext | undefined;

  /** Starts an application with registrations. */
  async function start(...imports: DynamicModule[]): Promise<void> {
    started = await NestFactory.createApplicationContext(
      { module: Root, imports },
      { logger: false, abortOnError: false },
    );
  }

  afterEach(async () => {
    await started?.close();
    started = undefined;
  });

  it.each([
    ['isGlobal', true],
    ['protectAllRoutes', false],
  ])('is refused if it is no boolean: %s', (extra, fallback) => {
    const message = `SessionAuthModule: ${extra} must be a boolean. Set true or false, or leave it out for ${fallback}.`;
    for (const value of [null, 'false', 0]) {
      expect(() => main({ [extra]: value })).toThrow(new Error(message));
      expect(() => asynchronous({ [extra]: value })).toThrow(new Error(message));
    }
  });

  it.each([[null], [{ open: () => undefined }], [[undefined]], [[{ open: 'all' }]]])(
    'is refused if it is no list of plugins: plugins',
    (plugins) => {
      const message =
        'SessionAuthModule: plugins must be a list of plugins. Name values that entries of nestjs-session-auth export for it.';
      expect(() => main({ plugins })).toThrow(new Error(message));
      expect(() => asynchronous({ plugins })).toThrow(new Error(message));
    },
  );

  it.each([
    [{ baseUrl: 'https://sessions.example.com', apiKey: 'secret-key' }, 'baseUrl, apiKey'],
    [{ isglobal: false, plugins: [] }, 'isglobal'],
    [{ cache: undefined, protectAllRoutes: true }, 'cache'],
  ])('beside a factory is no option: it would have no effect [P66]', (given, names) => {
    expect(() => asynchronous(given)).toThrow(
      new InvalidConfigurationError(
        `SessionAuthModule: ${names} has no effect beside useFactory, useClass or useExisting. Return options from the factory, with baseUrl and apiKey: beside it are only useFactory, useClass, useExisting, imports, inject, provideInjectionTokensFrom, isGlobal, protectAllRoutes, plugins.`,
      ),
    );
  });

  it.each([main, asynchronous])('opens each of its plugins once', async (registration) => {
    let opened = 0;
    const plugin = {
      open: () => {
        opened += 1;
        return { providers: [{ provide: 'part', useValue: opened }], exports: ['part'] };
      },
    };
    await start(registration({ plugins: [plugin, plugin] }));
    expect([opened, started?.get<number>('part')]).toEqual([1, 1]);
  });
});
