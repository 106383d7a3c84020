import { describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { SessionAuthExtras } from '../options/options.js';
import { SessionAuthModule } from '../session-auth.module.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };
const HERE = { isGlobal: false };
const CLOSED = { isGlobal: false, protectAllRoutes: true };

@Module({})
class Root {}
@Module({})
class Hiring {}
@Module({})
class Payroll {}

const main = (extras: SessionAuthExtras = {}): DynamicModule =>
  SessionAuthModule.forRoot({ ...OPTIONS, ...extras });
const named = (name: string, extras: SessionAuthExtras = {}): DynamicModule => main({ name, ...extras });
const rootOf = (...imports: DynamicModule[]): DynamicModule => ({ module: Root, imports });
const inModules = (first: DynamicModule, second: DynamicModule): DynamicModule =>
  rootOf({ module: Hiring, imports: [first] }, { module: Payroll, imports: [second] });

async function start(root: DynamicModule): Promise<void> {
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  await context.close();
}

async function expectStop(root: DynamicModule, message: string): Promise<void> {
  const error: unknown = await start(root).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(InvalidConfigurationError);
  expect((error as Error).message).toContain(message);
}

describe('an application with more than one default authority', () => {
  it.each<[string, DynamicModule]>([
    ['two of the whole application in one module', rootOf(main(), main())],
    ['two of the whole application in different modules', inModules(main(), main())],
    ['two that guard every route', inModules(main(CLOSED), main(CLOSED))],
    ['one that guards every route, and one of the whole application', inModules(main(CLOSED), main())],
    [
      'two of the whole application, and one of a module',
      rootOf(main(), main(), { module: Hiring, imports: [main(HERE)] }),
    ],
  ])('does not start: %s', async (_case, root) => {
    await expectStop(root, 'SessionAuthModule is registered more than once for the whole application.');
  });

  it('does not start if one module imports two that are for single modules', async () => {
    await expectStop(
      rootOf({ module: Hiring, imports: [main(HERE), main({ ...HERE })] }),
      'Hiring imports more than one authority of SessionAuthModule.',
    );
  });

  const shared = main();
  const sharedHere = main(HERE);

  it.each<[string, DynamicModule]>([
    ['each is for its own module', inModules(main(HERE), main({ ...HERE }))],
    [
      'one is for the whole application, and one for a module',
      rootOf(main(), { module: Hiring, imports: [main(HERE)] }),
    ],
    ['two modules import the same one of the whole application', inModules(shared, shared)],
    ['two modules import the same one for single modules', inModules(sharedHere, sharedHere)],
    [
      'the others in the same module have names',
      rootOf(main(HERE), named('staff', HERE), named('partners', HERE)),
    ],
    ['the others of the whole application have names', rootOf(main(), named('staff'), named('partners'))],
  ])('starts if %s', async (_case, root) => {
    await expect(start(root)).resolves.toBeUndefined();
  });
});

describe('an application with named authorities', () => {
  it('starts if the default authority guards every route', async () => {
    await expect(start(rootOf(main(CLOSED), named('partners')))).resolves.toBeUndefined();
  });

  it('does not start without a default authority, and names all that it has', async () => {
    await expectStop(
      rootOf(named('partners'), named('staff')),
      "SessionAuthModule has no default authority, which checks the handlers without @SessionAuthority(). Leave out name: 'partners' or 'staff'.",
    );
  });

  it.each([HERE, {}])('starts if the default authority is one of %j', async (extras) => {
    await expect(start(rootOf(main(extras), named('partners')))).resolves.toBeUndefined();
  });
});
