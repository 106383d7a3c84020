import { describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  type CanActivate,
  Controller,
  Get,
  Global,
  Module,
  UseGuards,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { ApplicationGuardsProxy, guardEveryHandler } from './application-guards.js';
import { enhancersOf } from '../guard/enhancers.js';
import { GUARD_REGISTRATION } from '../guard/guard-registration.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';

const contextOf = (handler: unknown) =>
  ({ getType: () => 'rpc', getHandler: () => handler }) as unknown as ExecutionContext;

/** Nest creates the guards that these classes name, and nothing calls them. */
@Global()
@Module({ providers: [{ provide: GUARD_REGISTRATION, useValue: {} }], exports: [GUARD_REGISTRATION] })
class PartsModule {}

class RefusingGuard extends SessionAuthGuard {
  override canActivate(): never {
    return false as never;
  }
}

function classOf(decorate: ClassDecorator, map: MethodDecorator): Type {
  @decorate
  class Handlers {
    @map say(): string {
      return 'said';
    }
  }
  return Handlers;
}
const messages = (): Type => classOf(Controller(), MessagePattern('say'));
const gateway = (): Type => classOf(WebSocketGateway(), SubscribeMessage('say'));

interface Stored {
  readonly modules: ModulesContainer;
  readonly config: ApplicationConfig;
  readonly guard: CanActivate;
  /** The proxy that Nest would call. */
  proxy(): { readonly instance: unknown; readonly subtype?: unknown } | undefined;
}

/** An application with these classes, whose global guard refuses. */
async function storing(...classes: Type[]): Promise<Stored> {
  @Module({ providers: classes })
  class FeatureModule {}
  @Module({ imports: [PartsModule, FeatureModule] })
  class RootModule {}
  const app = await NestFactory.createApplicationContext(RootModule, { logger: false, abortOnError: false });
  const modules = app.get(ModulesContainer);
  const config = new ApplicationConfig();
  const refusing = new RefusingGuard({} as never);
  config.useGlobalGuards(refusing);
  const feature = [...modules.values()].find(({ metatype }) => metatype === FeatureModule);
  const proxy = (): ReturnType<Stored['proxy']> => feature?.injectables.get(ApplicationGuardsProxy);
  return { modules, config, guard: refusing, proxy };
}

const guardsOf = (target: object): readonly unknown[] => enhancersOf(target, 'guard');
const guardAll = ({ modules, config, guard }: Stored): void => guardEveryHandler(modules, config, guard);
const calling = (stored: Stored, handler: unknown = guardsOf): unknown =>
  (stored.proxy()?.instance as ApplicationGuardsProxy | undefined)?.canActivate(contextOf(handler));

describe('the global guards of an application', () => {
  it.each([
    ['message handlers', messages],
    ['gateways', gateway],
  ])('are applied to %s, which Nest may call without them', async (_kind, create) => {
    const owner = create();
    const stored = await storing(owner);
    guardAll(stored);
    expect(guardsOf(owner)).toEqual([ApplicationGuardsProxy]);
    expect(stored.proxy()?.subtype).toBe('guard');
    expect(calling(stored)).toBe(false);
  });

  it('are not applied again to routes, which Nest calls with them', async () => {
    const owner = classOf(Controller(), Get());
    const stored = await storing(owner);
    guardAll(stored);
    expect([guardsOf(owner), stored.proxy()]).toEqual([[], undefined]);
  });

  it('are not asked about a method with a session guard that Nest finds, but about a function in its place', async () => {
    class OtherGuard extends SessionAuthGuard {}
    const named = classOf(Controller(), applyDecorators(MessagePattern('say'), UseGuards(OtherGuard)));
    const stored = await storing(named);
    guardAll(stored);
    const { say } = named.prototype as { readonly say: () => string };
    const [bound, unknown] = [say.bind({}), say.bind({})];
    UseGuards(OtherGuard)(unknown);
    expect([say, bound, unknown].map((called) => calling(stored, called))).toEqual([true, false, false]);
  });

  it('are applied before the guards that a class names', async () => {
    const owner = messages();
    const own = { canActivate: () => true };
    UseGuards(own)(owner);
    guardAll(await storing(owner));
    expect(guardsOf(owner)).toEqual([ApplicationGuardsProxy, own]);
  });

  it('are not applied to a class that names the session guard', async () => {
    const [owner, neighbour] = [messages(), gateway()];
    UseGuards(RefusingGuard)(owner);
    guardAll(await storing(owner, neighbour));
    expect([owner, neighbour].map(guardsOf)).toEqual([[RefusingGuard], [ApplicationGuardsProxy]]);
  });

  it('of each application are called for a class that several applications use', async () => {
    const owner = messages();
    const first = await storing(owner);
    guardAll(first);
    const second = await storing(owner);
    const created = second.proxy();
    guardAll(second);
    expect(guardsOf(owner)).toEqual([ApplicationGuardsProxy]);
    expect([created !== undefined, second.proxy()]).toEqual([true, created]);
    expect([calling(first), calling(second)]).toEqual([false, false]);
  });
});
