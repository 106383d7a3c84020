import { describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { SessionAuthModule, type SessionAuthExtras } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { always } from '../support/always.js';
import { bootstrapError, MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'application-key' };
const HERE = { isGlobal: false };
const CLOSED = { isGlobal: false, protectAllRoutes: true };

const sync = (extras: SessionAuthExtras = {}): DynamicModule =>
  SessionAuthModule.forRoot({ ...OPTIONS, ...extras });
const asynchronous = (extras: SessionAuthExtras = {}): DynamicModule =>
  SessionAuthModule.forRootAsync({ useFactory: () => OPTIONS, ...extras });

@Module({})
class Root {}
@Module({})
class Hiring {}
@Module({})
class Payroll {}

const rootWith = (...imports: (DynamicModule | Type)[]): DynamicModule => ({ module: Root, imports });
const inModules = (first: DynamicModule, second: DynamicModule): DynamicModule =>
  rootWith({ module: Hiring, imports: [first] }, { module: Payroll, imports: [second] });

const MORE_THAN_ONCE =
  /^SessionAuthModule is registered more than once for the whole application\. Call forRoot\(\) or forRootAsync\(\) once, in the root module/;

describe('a second registration', () => {
  it('for the whole application stops the start with a message that contains the remedy [P21]', async () => {
    const roots = [
      rootWith(sync(), sync()),
      rootWith(sync(), asynchronous()),
      rootWith(sync(), { module: Hiring, imports: [sync()] }),
      inModules(sync(), asynchronous()),
      inModules(sync(CLOSED), sync(CLOSED)),
      inModules(sync(CLOSED), sync()),
      inModules(sync(HERE), rootWith(sync(), asynchronous())),
    ];
    for (const root of roots) {
      const error = await bootstrapError(root);
      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect(error.message).toMatch(MORE_THAN_ONCE);
    }
  });
});

const shared = sync();
const sharedHere = sync(HERE);

describe('several registrations', () => {
  it('in one module stop the start, because only one of them could have an effect', async () => {
    const error = await bootstrapError(
      rootWith({ module: Hiring, imports: [sync(HERE), asynchronous(HERE)] }),
    );
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toMatch(/^Hiring has two registrations of SessionAuthModule/);
  });

  it.each<[string, DynamicModule]>([
    ['for single modules', inModules(sync(HERE), asynchronous(HERE))],
    ['for one module, and for the application', rootWith(sync(), { module: Hiring, imports: [sync(HERE)] })],
    ['that are one, which two modules import', inModules(shared, shared)],
    ['that are one with `isGlobal: false`, which two modules import', inModules(sharedHere, sharedHere)],
    ['for one module, beside one that guards every route', inModules(sync(CLOSED), sync(HERE))],
  ])('leave the start alone: %s', async (_case, root) => {
    await expect(bootstrapError(root)).rejects.toThrow('The application started');
  });
});

describe('several applications in one process', () => {
  const bed = testbed();

  it('have a registration each', async () => {
    const service = await bed.service();
    const sample = { baseUrl: service.url, options: { protectAllRoutes: true } };
    const apps = [await bed.sample(sample), await bed.sample(sample)];
    const root = rootWith(shared, { module: Hiring, imports: [shared], controllers: [MeController] });
    apps.push(await bed.app(root), await bed.app(root));

    for (const app of apps) expect(await always(async () => (await app.get('/me')).status)).toBe(401);
  });
});

describe('the module itself, without options', () => {
  it('stops the start with a message that names the import', async () => {
    const error = await bootstrapError(rootWith(SessionAuthModule));

    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toContain(
      'SessionAuthModule is imported without options. Import SessionAuthModule.forRoot({ baseUrl, apiKey })',
    );
  });
});
