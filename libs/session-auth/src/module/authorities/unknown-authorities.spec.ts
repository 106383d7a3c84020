import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { SessionAuthority } from '../../guard/access.decorators.js';
import { SessionAuthModule } from '../session-auth.module.js';

@Module({})
class Root {}
@SessionAuthority('partners')
@Controller('class')
class OfClass {
  @Get() list(): string {
    return 'list';
  }
}

@Controller('method')
class OfMethod {
  @Get('open') open(): string {
    return 'open';
  }

  @SessionAuthority('partners')
  @Get()
  list(): string {
    return 'list';
  }
}

@SessionAuthority('partners')
@Injectable()
class OfProvider {}

@SessionAuthority('default')
@Controller('default')
class OfDefault {
  @Get() list(): string {
    return 'list';
  }
}

@Controller('none')
class WithoutName {
  @Get() list(): string {
    return 'list';
  }
}

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };
/** Starts an application that has the classes, a default authority, and others with the names. */
async function start(names: string[], controllers: Type[], providers: Type[] = []): Promise<void> {
  const imports = names.map((name) => SessionAuthModule.forRoot({ ...OPTIONS, name }));
  const root: DynamicModule = {
    module: Root,
    imports: [SessionAuthModule.forRoot(OPTIONS), ...imports],
    controllers,
    providers,
  };
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  await context.close();
}

describe('@SessionAuthority()', () => {
  it.each<[string, Type[], Type[], string]>([
    ['a controller', [OfDefault, OfClass], [], 'OfClass'],
    ['a handler', [OfMethod], [], 'OfMethod.list'],
    ['a provider', [], [OfProvider], 'OfProvider'],
  ])('of %s stops the start if no authority has its name', async (_kind, controllers, providers, place) => {
    for (const names of [[], ['staff', 'partner']]) {
      const error: unknown = await start(names, controllers, providers).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect((error as Error).message).toMatch(
        new RegExp(`^${place} has @SessionAuthority\\('partners'\\), which is not registered\\.`),
      );
    }
  });

  it('may have the name of any authority', async () => {
    await expect(start(['staff', 'partners'], [OfClass, OfMethod], [OfProvider])).resolves.toBeUndefined();
  });

  it('may have the name of the default authority, and may be absent', async () => {
    await expect(start(['staff'], [OfDefault, WithoutName])).resolves.toBeUndefined();
  });
});
