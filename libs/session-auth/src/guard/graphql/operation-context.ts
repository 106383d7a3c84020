import { type NodeRequest, nodeRequestOf } from '../http/http-request.js';

/** Who an operation comes from: in the context of each operation, under a name that no context has by itself. */
export const CALLER = Symbol.for('nestjs-session-auth.graphql-caller');

/** What a GraphQL server gives to the function that makes a context: its request or its socket, and its reply. */
export interface Caller {
  readonly request: unknown;
  readonly reply: unknown;
}

/** The caller of a context that more than one request has. */
export const SHARED_CALLER: Caller = { request: undefined, reply: undefined };

/** What GraphQL servers put into the context of an operation: Apollo, Mercurius, and graphql-ws under Apollo. */
export interface OperationContext {
  readonly req?: OperationContext & { readonly res?: unknown };
  readonly res?: unknown;
  readonly reply?: { readonly request?: unknown };
  /** Of graphql-ws: the request that opened the socket, and what the client sent first. */
  readonly extra?: { readonly request?: unknown };
  readonly connectionParams?: unknown;
  /** Of Mercurius, for the same. */
  readonly request?: unknown;
  readonly _connectionInit?: unknown;
  readonly [CALLER]?: Caller;
}

/**
 * Whether a context speaks of more than one request. An application may give one object to all: its request is that of the first caller, or of
 * the last.
 */
export function mixesRequests({ req, reply, extra, request, [CALLER]: caller }: OperationContext): boolean {
  if (caller === SHARED_CALLER) return true;
  const own = caller?.request as OperationContext | undefined;
  let found: NodeRequest | undefined;
  for (const candidate of [own, own?.extra?.request, req, req?.extra?.request, reply?.request, extra?.request, request]) {
    const node = nodeRequestOf(candidate);
    if (found && node && node !== found) return true;
    found ??= node;
  }
  return false;
}

/** Makes the context of an operation, of what its server gives: request and reply in an object, or one after the other, or a socket. */
export type ContextFunction = (...given: unknown[]) => Promise<unknown>;

/**
 * Makes a context function of the `context` option of a GraphQL server. Its contexts belong to one request each, and know whose they are. The
 * context of a class can't be copied: from its second request on it is nobody's. `hearOfShared` is called when an object comes for a second request.
 */
export function separateContexts(option: unknown, hearOfShared: () => void): ContextFunction {
  const owners = new WeakMap<object, object>();
  return async (...given) => {
    const made: unknown = typeof option === 'function' ? await (option as ContextFunction)(...given) : option;
    const caller = callerOf(given);
    if (typeof made !== 'object' || made === null) return made ?? { [CALLER]: caller };
    const isShared = isOfAnother(made, originOf(caller), owners);
    if (isShared) hearOfShared();
    return isPlain(made) ? copyOf(made, caller) : mark(made, isShared ? SHARED_CALLER : caller);
  };
}

const NO_REQUEST = {};

function callerOf([first, second]: unknown[]): Caller {
  const { req, res } = (first ?? {}) as { readonly req?: unknown; readonly res?: unknown };
  return { request: req ?? first, reply: res ?? second };
}

/** What all operations of one request, or of one socket, have in common. */
function originOf({ request }: Caller): object {
  const node = nodeRequestOf(request) ?? nodeRequestOf((request as OperationContext | undefined)?.extra?.request);
  return node ?? (typeof request === 'object' && request !== null ? request : NO_REQUEST);
}

function isOfAnother(context: object, origin: object, owners: WeakMap<object, object>): boolean {
  const owner = owners.get(context);
  if (!owner) owners.set(context, origin);
  return owner !== undefined && owner !== origin;
}

function isPlain(context: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(context);
  return prototype === Object.prototype || prototype === null;
}

/** Its getters stay getters. Apollo copies what is enumerable for each operation. */
function copyOf(context: object, caller: Caller): object {
  const own = { ...Object.getOwnPropertyDescriptors(context), [CALLER]: { value: caller, enumerable: true } };
  return Object.create(Object.getPrototypeOf(context) as object | null, own) as object;
}

function mark(context: object, caller: Caller): object {
  return Reflect.set(context, CALLER, caller)
    ? context
    : (Object.create(context, { [CALLER]: { value: caller, enumerable: true } }) as object);
}
