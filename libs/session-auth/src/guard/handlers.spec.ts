import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Module, Scope, type Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import { Query, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { auditContextOf } from '../audit/audit-context.js';
import { BEYOND_ROUTES } from '../audit/beyond-routes.js';
import { dependenciesOf } from './nest-container.js';
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

@Injectable()
class Injecting {
  @Inject('factory') declare readonly property: string;
  constructor(@Inject('value') readonly parameter: string) {}
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
    Injecting,
    { provide: 'value', useValue: 'value' },
    { provide: 'factory', useFactory: () => 'made' },
    { provide: 'null', useFactory: factoryWith(null) },
    { provide: 'text', useFactory: factoryWith('text') },
    { provide: 'class', useClass: Openings },
  ],
})
class FeatureModule {}

const found = (owner: Type): unknown[] =>
  handlersIn(owner).map(({ kinds, name }) => `${name}: ${[...kinds].sort().join(', ')}`);

describe('the handlers of a class', () => {
  it.each<[string, Type, unknown[]]>([
    ['a controller are its routes and messages', Routes, ['route: route', 'both: message, route']],
    ['a gateway are its messages', Gateway, ['say: gateway']],
    [
      'a resolver are its root fields, fields and references',
      Openings,
      ['openings: resolver', 'title: field', 'reference: reference'],
    ],
  ])('that is %s', (_which, owner, expected) => {
    expect(found(owner)).toEqual(expected);
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
    expect(found(Late)).toEqual(['say: gateway']);
  });

  it('include those that it inherits, and not those that it overrides without a decorator', () => {
    class Derived extends Routes {
      override both(): string {
        return 'no handler';
      }
      @Get('own')
      own(): string {
        return 'own';
      }
    }
    expect(found(Derived)).toEqual(['own: route', 'route: route']);
    expect(handlersIn(Derived).map(({ owner }) => owner)).toEqual([Derived, Derived]);
  });
});

@Module({ imports: [FeatureModule], controllers: [Routes] })
class RootModule {}

describe('the handlers of an application', () => {
  const modulesOf = async (root: Type): Promise<ModulesContainer> =>
    (await NestFactory.createApplicationContext(root, { logger: false })).get(ModulesContainer);

  it('are those of its controllers and providers, each class once', async () => {
    const { handlers } = auditContextOf(await modulesOf(RootModule), new ApplicationConfig(), BEYOND_ROUTES);
    expect(handlers.map(({ owner, name }) => `${owner.name}.${name}`)).toEqual([
      ...['Routes.route', 'Routes.both'],
      ...['Gateway.say', 'Openings.openings', 'Openings.title', 'Openings.reference'],
    ]);
  });

  it('are of classes, and not of factories or values, whose dependencies are those of constructors, then of properties', async () => {
    const modules = await modulesOf(RootModule);
    const feature = [...modules.values()].find(({ metatype }) => metatype === FeatureModule);
    const own = ({ name }: Type): boolean => !/^(ModuleRef|ApplicationConfig)$/.test(name);
    const classes = [Routes, FeatureModule, Gateway, Injecting, Openings];
    expect(feature && classesOf(feature).filter(own)).toEqual(classes);
    const wrapper = feature?.providers.get(Injecting);
    const tokens = wrapper && dependenciesOf(wrapper).map((each) => each?.token);
    expect(tokens).toStrictEqual(['value', 'factory']);
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
    const routes = placedHandlersOf(await modulesOf(BindingModule)).filter(
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
});
