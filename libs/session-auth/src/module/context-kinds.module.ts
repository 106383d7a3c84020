import { type FactoryProvider, Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type ContextKind, TRANSPORTS } from '../guard/transport.js';
import { moveBehindOwnGuards } from '../guard/enhancers.js';
import type { SessionAuthPlugin } from './options/plugins.js';
import {
  classesOf,
  GRAPHQL_KINDS,
  GRAPHQL_OPTIONS,
  type HandlerKind,
  handlersIn,
} from '../guard/handlers.js';

/** A kind of context, which is loaded if an application has handlers of it, or the provider. */
interface LoadedByUse {
  readonly name: string;
  readonly handlers: readonly HandlerKind[];
  readonly provider?: string;
  readonly load: () => Promise<{ readonly KIND: ContextKind }>;
}

const FIELDS = { handlers: GRAPHQL_KINDS, provider: GRAPHQL_OPTIONS };

/** Without the folder of a kind, its line goes: `npm run parts`. */
const KINDS: readonly LoadedByUse[] = [
  { name: 'graphql', ...FIELDS, load: () => import('../graphql/graphql-kind.js') },
  { name: 'rpc', handlers: ['message'], load: () => import('../messages/message-transport.js') },
  { name: 'ws', handlers: ['gateway'], load: () => import('../gateways/socket-transport.js') },
];

type Open = (name: string) => Promise<void>;

/** All copies of this package share the list: the guard of one may have the parts of another. */
const COPIES = ((globalThis as Record<symbol, Set<Open> | undefined>)[
  Symbol.for('nestjs-session-auth:context-kinds')
] ??= new Set());

COPIES.add(async (name) => {
  const kind = await KINDS.find((each) => each.name === name)?.load();
  if (kind) TRANSPORTS.set(name, kind.KIND.transport);
});

async function openKind(name: string): Promise<void> {
  await Promise.all([...COPIES].map((open) => open(name)));
}

export function contextKind(name: string): SessionAuthPlugin {
  return {
    open: () => ({
      providers: [{ provide: Symbol(`context ${name}`), useFactory: () => openKind(name) }],
      exports: [],
    }),
  };
}

type UsedKind = LoadedByUse & ContextKind;

/**
 * A factory, for which Nest waits before anything listens: gateways and microservices are initialised before
 * the hooks of modules, and GraphQL and gRPC don't wait for an import at their first call.
 */
async function openUsedKinds(modules: ModulesContainer): Promise<readonly UsedKind[]> {
  const all = [...modules.values()];
  const handlers = all.flatMap(classesOf).flatMap(handlersIn);
  for (const { owner, called } of handlers) [owner, called].forEach(moveBehindOwnGuards);
  const used: UsedKind[] = [];
  // One after the other: Jest fails at imports of ES modules that link the same module at once.
  for (const kind of KINDS) {
    const own = handlers.filter(({ kinds }) => kind.handlers.some((each) => kinds.has(each)));
    if (
      own.length === 0 &&
      !all.some(({ providers }) => kind.provider !== undefined && providers.has(kind.provider))
    )
      continue;
    await openKind(kind.name);
    const { KIND } = await kind.load();
    for (const { owner } of own) KIND.prepareHandlers?.(owner);
    used.push({ ...kind, ...KIND });
  }
  return used;
}

export const USED_KINDS = Symbol('used kinds of context');

const usedKinds: FactoryProvider<readonly UsedKind[]> = {
  provide: USED_KINDS,
  useFactory: openUsedKinds,
  inject: [ModulesContainer],
};

/** Global, because Nest initialises global modules before `GraphQLModule` reads its options. */
@Global()
@Module({ providers: [usedKinds], exports: [USED_KINDS] })
export class ContextKindsModule implements OnModuleInit {
  /** @internal Created by Nest. */
  constructor(
    @Inject(USED_KINDS) private readonly kinds: readonly UsedKind[],
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
  ) {}

  onModuleInit(): void {
    for (const kind of this.kinds) {
      if (kind.provider === undefined) continue;
      for (const { providers, instance } of this.modules.values()) {
        const value = providers.get(kind.provider)?.instance as object | undefined;
        if (value) kind.prepareModule?.(instance, value);
      }
    }
  }
}
