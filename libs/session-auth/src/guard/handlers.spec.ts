import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Scope, type Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import { Query, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { auditContextOf } from '../audit/audit-context.js';
import { BEYOND_ROUTES } from '../audit/beyond-routes.js';
import { classesOf, handlersIn, placedHandlersOf } from './handlers.js';

@Controller()
class Routes {
  readonly field = 'field';
  @Get()
  route(): string {
    return 'route';
  }
  @Get('both')
  @MessagePattern('both')
  both(): string {
    return 'both';
  }
  @EventPattern('event')
  event(data: unknown): unknown {
    return data;
  }
  plain(): string {
    return 'plain';
  }
  get accessor(): never {
    throw new Error('no accessor is read');
  }
}

@WebSocketGateway()
class Gateway {
  @SubscribeMessage('say')
  say(): string {
    return 'said';
  }
}

@Resolver('Opening')
class Openings {
  @Query('openings')
  openings(): string {
    return 'openings';
  }
  @ResolveField('title')
  title(): string {
    return 'title';
  }
  @ResolveReference()
  reference(): string {
    return 'reference';
  }
}

/** A factory of the old kind, which has a prototype as a class does, of this value. */
function factoryWith(prototype: unknown): () => string {
  const factory = function (): string {
    return 'made';
  };
  factory.prototype = prototype;
  return factory;
}

@Module({
  controllers: [Routes],
  providers: [
    Gateway,
    { provide: 'value', useValue: 'value' },
    { provide: 'factory', useFactory: () => 'made' },
    { provide: 'null', useFactory: factoryWith(null) },
    { provide: 'text', useFactory: factoryWith('text') },
    { provide: 'class', useClass: Openings },
  ],
})
class FeatureModule {}

const found = (owner: Type): unknown[] =>
  handlersIn(owner).map(({ kinds, name }) => [name, [...kinds].sort()]);

describe('the handlers of a class', () => {
  it.each<[string, Type, unknown[]]>([
    [
      'a controller are its routes and messages',
      Routes,
      [
        ['route', ['route']],
        ['both', ['message', 'route']],
        ['event', ['message']],
      ],
    ],
    ['a gateway are its messages', Gateway, [['say', ['gateway']]]],
    [
      'a resolver are its root fields, fields and references',
      Openings,
      [
        ['openings', ['resolver']],
        ['title', ['field']],
        ['reference', ['reference']],
      ],
    ],
    ['another class are none', FeatureModule, []],
  ])('that is %s', (_which, owner, expected) => {
    expect(found(owner)).toEqual(expected);
  });

  it('have their class, name and method', () => {
    const { value } = Object.getOwnPropertyDescriptors(Gateway.prototype).say;
    expect(handlersIn(Gateway)).toEqual([
      {
        kinds: new Set(['gateway']),
        owner: Gateway,
        name: 'say',
        method: value,
        called: value,
        guards: [],
        replaced: [],
      },
    ]);
    expect(handlersIn(Gateway)[0]?.method).toBe(value);
  });

  it('include one that was decorated after an earlier application had read the class', () => {
    class Late {
      say(): string {
        return 'said';
      }
    }
    expect(found(Late)).toEqual([]);
    const { say } = Object.getOwnPropertyDescriptors(Late.prototype);
    SubscribeMessage('say')(Late.prototype, 'say', say);
    expect(found(Late)).toEqual([['say', ['gateway']]]);
  });

  it('include those that it inherits, and not those that it overrides without a decorator', () => {
    class Derived extends Routes {
      override event(): unknown {
        return 'no handler';
      }
      @Get('own')
      own(): string {
        return 'own';
      }
    }
    expect(handlersIn(Derived).map(({ owner, name }) => [owner, name])).toEqual([
      [Derived, 'own'],
      [Derived, 'route'],
      [Derived, 'both'],
    ]);
  });
});

@Module({ imports: [FeatureModule], controllers: [Routes] })
class RootModule {}

describe('the handlers of an application', () => {
  const modules = async (): Promise<ModulesContainer> =>
    (await NestFactory.createApplicationContext(RootModule, { logger: false, abortOnError: false })).get(
      ModulesContainer,
    );

  it('are those of its controllers and providers, each class once', async () => {
    const { handlers } = auditContextOf(await modules(), new ApplicationConfig(), BEYOND_ROUTES);
    expect(handlers.map(({ owner, name }) => `${owner.name}.${name}`)).toEqual([
      ...['Routes.route', 'Routes.both', 'Routes.event'],
      ...['Gateway.say', 'Openings.openings', 'Openings.title', 'Openings.reference'],
    ]);
  });

  it('are called as their instances have them, or as their class has them if there is no instance yet', async () => {
    class Binding extends Routes {
      constructor() {
        super();
        this.route = this.route.bind(this);
      }
    }
    @Controller()
    class Once extends Binding {}
    @Controller({ scope: Scope.REQUEST })
    class PerRequest extends Binding {}
    @Module({ controllers: [Once, PerRequest], providers: [{ provide: 'bound', useClass: Binding }] })
    class BindingModule {}
    const app = await NestFactory.createApplicationContext(BindingModule, { logger: false });
    const routes = placedHandlersOf(app.get(ModulesContainer)).filter(
      ({ handler }) => handler.name === 'route',
    );
    expect(
      routes.map(({ handler: { owner, called } }) => [owner, (called as { readonly name: string }).name]),
    ).toEqual([
      [Once, 'bound route'],
      [PerRequest, 'route'],
      [Binding, 'bound route'],
    ]);
  });

  it('belong to classes, and not to factories or values', async () => {
    const feature = [...(await modules()).values()].find(({ metatype }) => metatype === FeatureModule);
    const own =
      feature &&
      classesOf(feature).filter((each) => each.name !== 'ModuleRef' && each.name !== 'ApplicationConfig');
    expect(own).toEqual([Routes, FeatureModule, Gateway, Openings]);
  });
});
