import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Post, SetMetadata, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory, RouterModule } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { handlersIn } from '../guard/handlers.js';
import { modulePathOf, pathsOf, routePrefixesOf } from './routes.js';

@Controller('first')
class First {
  @Get()
  list(): string {
    return 'listed';
  }
}
@Controller('second')
class Second {
  @Get()
  list(): string {
    return 'listed';
  }
}

@Module({ controllers: [First, Second] })
class PlainModule {}
@Module({ controllers: [First] })
class RoutedModule {}
@Module({
  imports: [
    PlainModule,
    RoutedModule,
    RouterModule.register([{ path: 'clients/:clientId', module: RoutedModule }]),
  ],
})
class Root {}

const modulesOf = async (root: Type): Promise<ModulesContainer> =>
  (await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false })).get(
    ModulesContainer,
  );

describe('the prefixes of the routes of a controller', () => {
  it('are one for each of its modules: the global prefix, and the path of the module', async () => {
    const modules = await modulesOf(Root);
    const without = routePrefixesOf(modules);
    expect([First, Second].map((controller) => without.get(controller))).toEqual([
      ['', '//clients/:clientId'],
      [''],
    ]);

    const prefixes = routePrefixesOf(modules, 'api/:version');
    expect(prefixes.get(First)).toEqual(['api/:version', 'api/:version//clients/:clientId']);
    expect(prefixes.get(Second)).toEqual(['api/:version']);
    expect([...prefixes.keys()]).toEqual([First, Second]);
  });
});

describe('the path that RouterModule gives a module', () => {
  it('is that of this application, otherwise that of all; undefined if there is none', async () => {
    const modules = await modulesOf(Root);
    expect(modulePathOf(RoutedModule, modules)).toBe('/clients/:clientId');
    expect(modulePathOf(PlainModule, modules)).toBeUndefined();

    @Module({})
    class OldModule {}
    Reflect.defineMetadata('__module_path__', 'old', OldModule);
    expect(modulePathOf(OldModule, modules)).toBe('old');
    Reflect.defineMetadata(`__module_path__${modules.applicationId}`, 'own', OldModule);
    expect(modulePathOf(OldModule, modules)).toBe('own');
  });
});

@Controller(['', 'clients/'])
class Clients {
  @Get()
  root(): string {
    return 'root';
  }
  @Post([':id', '/all/'])
  some(): string {
    return 'some';
  }
  @SetMetadata('path', ['text', /pattern/])
  @Get()
  pattern(): string {
    return 'pattern';
  }
  @MessagePattern('message')
  message(): string {
    return 'message';
  }
}

describe('the paths of a route', () => {
  const paths = (prefixes: string[]): unknown =>
    Object.fromEntries(
      handlersIn(Clients).map((handler) => [handler.name, pathsOf(handler, new Map([[Clients, prefixes]]))]),
    );

  it.each<[string[], unknown]>([
    [
      [''],
      {
        root: ['/', '/clients'],
        some: ['/:id', '/all', '/clients/:id', '/clients/all'],
        pattern: ['/text', '/clients/text'],
        message: [],
      },
    ],
    [['/a/', 'b'], expect.objectContaining({ root: ['/a', '/a/clients', '/b', '/b/clients'] })],
  ])('are each prefix, path of the controller and path of the method: %j', (prefixes, expected) => {
    expect(paths(prefixes)).toEqual(expected);
  });

  it('are none for a class that is no controller', () => {
    const [handler] = handlersIn(Clients);
    expect(handler && pathsOf(handler, new Map())).toEqual([]);
  });
});
