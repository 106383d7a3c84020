import { describe, expect, it, jest } from '@jest/globals';
import * as nest from '@nestjs/common';
import { Injectable, type INestApplication, Module, UseGuards } from '@nestjs/common';
import * as core from '@nestjs/core';
import { ExternalContextCreator } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import type * as Library from 'nestjs-session-auth';
import { SessionAuthModule } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

/** A handler of a framework of its own, without a decorator of Nest. */
@Injectable()
class OwnHandlers {
  calls = 0;

  take(): void {
    this.calls += 1;
  }
}

type Handle = (payload: unknown, message: object) => Promise<unknown>;

/** Returns a handler as a framework gets it from Nest. */
function handlerOf(app: INestApplication, owner: nest.Type, name: string): Handle {
  const handlers: object = app.get(owner);
  const creator = app.get(ExternalContextCreator, { strict: false });
  const unused = [undefined, undefined, undefined, undefined, undefined] as const;
  return creator.create(handlers, Reflect.get(handlers, name) as () => void, name, ...unused, 'rpc');
}

const messageWith = (token: string): object => ({
  getMessage: () => ({ headers: { 'x-auth-token': token } }),
});

/** Another copy of the library, as a second one in `node_modules` would be; both are for one copy of Nest. */
async function anotherCopy(): Promise<typeof Library> {
  jest.resetModules();
  jest.unstable_mockModule('@nestjs/common', () => nest);
  jest.unstable_mockModule('@nestjs/core', () => core);
  return import('nestjs-session-auth');
}

@Module({})
class Root {}

describe.each(platforms('Express'))('a kind of context on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('is opened by SessionAuthModule.contextKind() for handlers that no decorator of Nest declares', async () => {
    const service = await bed.service();
    const options = { protectAllRoutes: true, plugins: [SessionAuthModule.contextKind('rpc')] };
    const { app } = await bed.sample({ baseUrl: service.url, options, providers: [OwnHandlers] });
    const take = handlerOf(app, OwnHandlers, 'take');

    await expect(take({}, messageWith('unknown'))).rejects.toMatchObject({
      error: { code: 'SESSION_REJECTED' },
    });
    expect(app.get(OwnHandlers).calls).toBe(0);
    await take({}, messageWith(service.signInAs({ username: 'ann' })));
    expect(app.get(OwnHandlers).calls).toBe(1);
  });

  it('is open in each copy of the library: the guard of one reads messages, and has the parts of the other', async () => {
    const other = await anotherCopy();

    @Injectable()
    @UseGuards(other.SessionAuthGuard)
    class MixedHandlers {
      @MessagePattern('mixed')
      mixed(): string {
        return 'in';
      }
    }
    const service = await bed.service();
    const imports = [SessionAuthModule.forRoot({ baseUrl: service.url, apiKey: 'application-key' })];
    const { app } = await bed.app({ module: Root, imports, providers: [MixedHandlers] });
    const mixed = handlerOf(app, MixedHandlers, 'mixed');

    await expect(mixed({}, messageWith('unknown'))).rejects.toMatchObject({
      error: { code: 'SESSION_REJECTED' },
    });
    expect(await mixed({}, messageWith(service.signInAs({ username: 'ann' })))).toBe('in');
  });
});
