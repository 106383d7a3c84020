import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Inject,
  Injectable,
  Module,
  Optional,
  Scope,
  UseGuards,
  type CanActivate,
  type Provider,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { ProvidedBy, type SessionAuthPlugin } from './options/plugins.js';
import { SessionAuthModule } from './session-auth.module.js';

@ProvidedBy('somePart of some-entry', 'Part')
@Injectable()
class Part {}

const somePart: SessionAuthPlugin = { open: () => ({ providers: [Part], exports: [Part] }) };

@Injectable()
class ByConstructor {
  constructor(
    @Optional() @Inject('absent') readonly absent: unknown,
    readonly part: Part,
  ) {}
}

@Injectable()
class ByProperty {
  @Inject(Part) readonly part!: Part;
}

@Injectable({ scope: Scope.REQUEST })
class OfRequest {
  constructor(readonly part: Part) {}
}

@Injectable({ scope: Scope.TRANSIENT })
class Transient {
  constructor(readonly part: Part) {}
}

@Injectable()
class Indirect {
  constructor(readonly transient: Transient) {}
}

@Controller()
class InController {
  constructor(readonly part: Part) {}
}

@Injectable()
class OfInjectable implements CanActivate {
  constructor(readonly part: Part) {}

  canActivate(): boolean {
    return true;
  }
}

@Controller()
@UseGuards(OfInjectable)
class Guarded {}

@Injectable()
class WithOptional {
  constructor(@Optional() readonly part?: Part) {}
}

@Module({})
class Root {}

const REQUIRED = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

interface Setup {
  readonly controllers?: Type[];
  readonly providers?: Provider[];
  readonly plugins?: readonly SessionAuthPlugin[];
  readonly isGlobal?: boolean;
}

async function start({ plugins, isGlobal, ...root }: Setup) {
  const registration = SessionAuthModule.forRoot({
    ...REQUIRED,
    ...(plugins && { plugins }),
    ...(isGlobal !== undefined && { isGlobal }),
  });
  const module = { module: Root, imports: [registration], ...root };
  return NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
}

describe('a class of a plugin that is not named', () => {
  it.each<[string, Setup, string]>([
    ['by the constructor of a provider', { providers: [ByConstructor] }, 'ByConstructor'],
    ['by a property of a provider', { providers: [ByProperty] }, 'ByProperty'],
    ['by a provider of each request', { providers: [OfRequest] }, 'OfRequest'],
    ['by a transient provider that another injects', { providers: [Transient, Indirect] }, 'Indirect'],
    ['by a guard that a controller names', { controllers: [Guarded] }, 'OfInjectable'],
    ['by a factory', { providers: [{ provide: 'made', useFactory: () => 1, inject: [Part] }] }, 'A provider'],
    ['where the registration is imported', { providers: [ByConstructor], isGlobal: false }, 'ByConstructor'],
  ])('stops the start if it is injected %s, and names the plugin', async (_where, setup, name) => {
    const error: unknown = await start(setup).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect((error as Error).message).toBe(
      `${name} needs Part, which SessionAuthModule does not provide here. Add somePart of some-entry to plugins (with forRootAsync: beside useFactory).`,
    );
  });

  it('stops the start even if its file is loaded after the registration is declared', async () => {
    class Late extends Part {}
    const imports = [SessionAuthModule.forRoot(REQUIRED)];
    ProvidedBy('somePart of some-entry', 'Late')(Late);
    const providers = [{ provide: 'made', useFactory: () => 1, inject: [Late] }];
    const root = { module: Root, imports, providers };
    const starting = NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    await expect(starting).rejects.toThrow('A provider needs Late');
  });

  it('is undefined where it is optional', async () => {
    const context = await start({ providers: [WithOptional] });
    expect(context.get(WithOptional).part).toBeUndefined();
    await context.close();
  });
});

describe('a class of a plugin that is named', () => {
  it.each([true, false])('is provided with isGlobal: %p', async (isGlobal) => {
    const controllers = [InController, Guarded];
    const context = await start({
      plugins: [somePart],
      controllers,
      providers: [ByConstructor, ByProperty, WithOptional],
      isGlobal,
    });
    const part: unknown = context.get(ByConstructor).part;
    expect(part).toBeInstanceOf(Part);
    expect([context.get(ByProperty).part, context.get(WithOptional).part, context.get(Part)]).toEqual([
      part,
      part,
      part,
    ]);
    await context.close();
  });
});
