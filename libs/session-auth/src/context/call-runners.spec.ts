import { beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, UseInterceptors, type CallHandler, type Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import { Query, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Public } from '../guard/access.decorators.js';
import { CallInterceptor } from './call-interceptor.js';
import { runField, runPublicField } from './field-calls.js';
import { enhancersOf } from '../guard/enhancers.js';
import { runEveryCall } from './call-runners.js';

class OwnInterceptor {
  intercept(_context: unknown, next: CallHandler): unknown {
    return next.handle();
  }
}
const ownMiddleware = (): string => 'own';

/** Classes with handlers. Each test has its own, because the metadata of a class stays. */
function handlerClasses() {
  @Controller()
  class Routes {
    @Get() list(): string {
      return 'list';
    }
  }

  @Controller()
  @UseInterceptors(OwnInterceptor)
  class Messages {
    @MessagePattern('list') list(): string {
      return 'list';
    }
  }

  @WebSocketGateway()
  class Gateway {
    @SubscribeMessage('list') list(): string {
      return 'list';
    }
  }

  @Resolver('User')
  class Fields {
    @Query() user(): string {
      return 'user';
    }
    @ResolveField() name(): string {
      return 'name';
    }
    @ResolveReference() reference(): string {
      return 'reference';
    }
    @Public() @ResolveField() open(): string {
      return 'open';
    }
    @ResolveField() withOwn(): string {
      return 'own';
    }
  }
  Reflect.defineMetadata('graphql:field_resolver_middleware', [ownMiddleware], methodOf(Fields, 'withOwn'));
  return { Routes, Messages, Gateway, Fields };
}

function methodOf(owner: Type, name: string): object {
  return (owner.prototype as Record<string, object>)[name] ?? {};
}
const middlewareOf = (owner: Type, name: string): unknown =>
  Reflect.getMetadata('graphql:field_resolver_middleware', methodOf(owner, name)) as unknown;

@Module({})
class Root {}

async function run(controllers: Type[], providers: Type[]): Promise<ApplicationConfig> {
  const context = await NestFactory.createApplicationContext(
    { module: Root, controllers, providers },
    { logger: false },
  );
  const config = new ApplicationConfig();
  runEveryCall(context.get(ModulesContainer), config);
  await context.close();
  return config;
}

describe('the handlers of an application', () => {
  let classes: ReturnType<typeof handlerClasses>;
  beforeEach(() => void (classes = handlerClasses()));
  const runAll = (): Promise<ApplicationConfig> =>
    run([classes.Routes, classes.Messages], [classes.Gateway, classes.Fields]);

  it('run in their call by a global interceptor', async () => {
    expect((await runAll()).getGlobalInterceptors()).toEqual([expect.any(CallInterceptor)]);
  });

  it('of messages and of gateways name that interceptor too, before their own, and no others do', async () => {
    const [global] = (await runAll()).getGlobalInterceptors();
    const { Routes, Messages, Gateway, Fields } = classes;
    const named = [Messages, Gateway, Routes, Fields].map((owner) => enhancersOf(owner, 'interceptor'));
    expect(named).toEqual([[global, OwnInterceptor], [global], [], []]);
    expect(named[0]?.[0]).toBe(global);
    expect(named[1]?.[0]).toBe(global);
  });

  it('of fields and of references have a middleware before their own, and no others do', async () => {
    await runAll();
    const { Fields, Routes, Messages, Gateway } = classes;
    expect(['name', 'reference', 'withOwn', 'user'].map((name) => middlewareOf(Fields, name))).toEqual([
      [runField],
      [runField],
      [runField, ownMiddleware],
      undefined,
    ]);
    expect([Routes, Messages, Gateway].map((owner) => middlewareOf(owner, 'list'))).toEqual(
      Array(3).fill(undefined),
    );
  });

  it('of public fields have a middleware of their own', async () => {
    await runAll();
    expect(middlewareOf(classes.Fields, 'open')).toEqual([runPublicField]);
  });

  it('are prepared once, also if several applications have them', async () => {
    for (let times = 0; times < 2; times += 1) await runAll();
    const { Messages, Fields } = classes;
    expect(enhancersOf(Messages, 'interceptor')).toHaveLength(2);
    expect(['name', 'withOwn', 'open'].map((name) => middlewareOf(Fields, name))).toEqual([
      [runField],
      [runField, ownMiddleware],
      [runPublicField],
    ]);
  });
});

describe('a field that classes inherit', () => {
  function inheriting(): [base: Type, open: Type, closed: Type] {
    class Base {
      @ResolveField() name(): string {
        return 'name';
      }
    }
    @Public()
    @Resolver('Open')
    class Open extends Base {}
    @Resolver('Closed')
    class Closed extends Base {}
    return [Base, Open, Closed];
  }

  it.each([false, true])('is public if it is in one of them, in any order: %p', async (isReversed) => {
    const [base, ...classes] = inheriting();
    await run([], isReversed ? classes.reverse() : classes);
    expect(middlewareOf(base, 'name')).toEqual([runPublicField]);
  });

  it('is not public if it is so in none of them', async () => {
    const [base, , closed] = inheriting();
    await run([], [closed]);
    expect(middlewareOf(base, 'name')).toEqual([runField]);
  });
});
