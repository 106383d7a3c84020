import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import { type ContextId, ContextIdFactory, type ModuleRef } from '@nestjs/core';

const PATTERN = 'microservices:pattern';
const MESSAGE = 'message';

/** Context ids of calls for which Nest has none, or none that it reveals. */
const ownIds = new WeakMap<object, ContextId>();

/**
 * Returns the context id of a call, by which Nest distinguishes request-scoped instances. For HTTP and
 * GraphQL it is Nest's own. For a message Nest reveals none: all policies of the message share one.
 * @param isDurable whether the instance to resolve is durable: shared by the calls of one tenant
 */
export function contextIdOf(context: ExecutionContext, moduleRef: ModuleRef, isDurable: boolean): ContextId {
  const [carrier, request] = carrierOf(context);
  const own = ownIds.get(carrier);
  if (own) return own;
  const id = ContextIdFactory.getByRequest(carrier, ['raw', 'req']);
  // An id that Nest has attached to the call is the same each time; any other is new.
  if (ContextIdFactory.getByRequest(carrier, ['raw', 'req']) === id) return id;
  ownIds.set(carrier, id);
  moduleRef.registerRequestByContextId(isDurable ? durablePayloadOf(id) : request, id);
  return id;
}

/** Returns the object that exists once for each call, and what `@Inject(REQUEST)` injects. */
function carrierOf(context: ExecutionContext): [carrier: object, request: unknown] {
  const type = context.getType<string>();
  if (type === 'http' || type === 'graphql') {
    const carrier = context.getArgByIndex<object>(type === 'http' ? 0 : 2);
    return [carrier, carrier];
  }
  return [context, messageOf(context, type)];
}

/**
 * Returns what Nest injects as the request of a message: its pattern, data and context. The context of a
 * gateway's message is its socket.
 */
function messageOf(context: ExecutionContext, type: string): object {
  const handler = context.getHandler();
  if (type === 'ws') {
    return {
      pattern: Reflect.getMetadata(MESSAGE, handler) as unknown,
      data: context.switchToWs().getData<unknown>(),
      context: context.switchToWs().getClient<unknown>(),
    };
  }
  const [pattern] = (Reflect.getMetadata(PATTERN, handler) ?? []) as unknown[];
  return {
    pattern,
    data: context.switchToRpc().getData<unknown>(),
    context: context.switchToRpc().getContext<unknown>(),
  };
}

function durablePayloadOf(id: ContextId): unknown {
  return (id as { readonly payload?: unknown }).payload;
}
