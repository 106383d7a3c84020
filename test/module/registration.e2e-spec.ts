import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { SessionAuthModule, type SessionAuthOptions, type SessionAuthOptionsFactory } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { PLATFORMS } from '../support/platforms.js';
import { bootstrapError, MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

/** Where the options come from; the test sets the address of its service. */
@Injectable()
class Address {
  static baseUrl = '';
  readonly baseUrl = Address.baseUrl;
}

@Injectable()
class OptionsFactory implements SessionAuthOptionsFactory {
  createSessionAuthOptions(): SessionAuthOptions {
    return { baseUrl: Address.baseUrl, apiKey: 'application-key' };
  }
}

@Injectable()
class AsyncOptionsFactory implements SessionAuthOptionsFactory {
  constructor(private readonly address: Address) {}

  async createSessionAuthOptions(): Promise<SessionAuthOptions> {
    return Promise.resolve({ baseUrl: this.address.baseUrl, apiKey: 'application-key' });
  }
}

@Module({ providers: [Address, AsyncOptionsFactory], exports: [Address, AsyncOptionsFactory] })
class AddressModule {}

@Module({})
class Root {}

const REGISTRATIONS: Record<string, () => DynamicModule> = {
  forRoot: () => SessionAuthModule.forRoot({ baseUrl: Address.baseUrl, apiKey: 'application-key' }),
  'forRoot with a URL': () => SessionAuthModule.forRoot({ baseUrl: new URL(Address.baseUrl), apiKey: 'application-key' }),
  'forRootAsync with a factory': () =>
    SessionAuthModule.forRootAsync({ useFactory: () => ({ baseUrl: Address.baseUrl, apiKey: 'application-key' }) }),
  'forRootAsync with an async factory': () =>
    SessionAuthModule.forRootAsync({ useFactory: async () => Promise.resolve({ baseUrl: Address.baseUrl, apiKey: 'application-key' }) }),
  'forRootAsync with a factory that is given providers': () =>
    SessionAuthModule.forRootAsync({
      imports: [AddressModule],
      inject: [Address],
      useFactory: ({ baseUrl }: Address) => ({ baseUrl, apiKey: 'application-key' }),
    }),
  'forRootAsync with a class': () => SessionAuthModule.forRootAsync({ useClass: OptionsFactory }),
  'forRootAsync with a class that is given providers': () =>
    SessionAuthModule.forRootAsync({ imports: [AddressModule], useClass: AsyncOptionsFactory }),
  'forRootAsync with an existing provider': () =>
    SessionAuthModule.forRootAsync({ imports: [AddressModule], useExisting: AsyncOptionsFactory }),
};

const names = Object.keys(REGISTRATIONS);

describe.each(PLATFORMS)('a registration of the module on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(names)('checks sessions: %s', async (name) => {
    const service = await bed.service();
    Address.baseUrl = service.url;
    const app = await bed.app({ module: Root, imports: [REGISTRATIONS[name]?.() ?? Root], controllers: [MeController] });

    expect((await app.get('/me', service.signInAs({}))).status).toBe(200);
    expect((await app.get('/me')).status).toBe(401);
    expect(service.requests[0]?.headers['x-api-key']).toBe('application-key');
  });
});

describe('a registration of the module whose options are not there', () => {
  const broken = (useFactory: () => unknown): DynamicModule =>
    SessionAuthModule.forRootAsync({ useFactory: useFactory as () => SessionAuthOptions });

  it.each([
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['gives a text', () => 'options'],
    ['resolves to nothing', () => Promise.resolve()],
    ['gives bad options', () => ({ baseUrl: 'ftp://a.example', apiKey: 'key' })],
    ['gives an extra of the module', () => ({ baseUrl: 'http://a.example', apiKey: 'key', isGlobal: false })],
  ])('stops the bootstrap when its factory %s', async (_case, useFactory) => {
    const error = await bootstrapError({ module: Root, imports: [broken(useFactory)] });

    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toContain('SessionAuthModule: ');
  });

  it('lets an error of its factory through', async () => {
    const failure = new Error('the configuration service is down');

    expect(await bootstrapError({ module: Root, imports: [broken(() => Promise.reject(failure))] })).toBe(failure);
  });
});
