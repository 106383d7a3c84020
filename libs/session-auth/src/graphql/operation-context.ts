import { nodeRequestOf } from '../kinds/handshake-request.js';

/** Key of the {@link Caller} in the context of each operation. No context has this symbol otherwise. */
export const CALLER = Symbol.for('nestjs-session-auth.graphql-caller');

/** From the arguments of the context function: a request or a socket, and the reply. */
export interface Caller {
  readonly request: unknown;
  readonly reply: unknown;
}

const SHARED_CALLER: Caller = { request: undefined, reply: undefined };

/** As GraphQL servers build it: Apollo, Mercurius, and graphql-ws under Apollo. */
export interface OperationContext {
  readonly req?: OperationContext & { readonly res?: unknown };
  readonly res?: unknown;
  readonly reply?: { readonly request?: unknown };
  /** graphql-ws: the request that opened the socket, and the parameters of the client's first message. */
  readonly extra?: { readonly request?: unknown; readonly socket?: unknown };
  readonly connectionParams?: unknown;
  /** Mercurius: the same. */
  readonly request?: unknown;
  readonly _connectionInit?: unknown;
  readonly [CALLER]?: Caller;
}

/** All that may be a request of the operation. */
export function candidatesOf({
  req,
  reply,
  extra,
  request,
  [CALLER]: caller,
}: OperationContext): readonly unknown[] {
  const own = caller?.request as OperationContext | undefined;
  return [own, own?.extra?.request, extra?.request, req?.extra?.request, req, request, reply?.request];
}

/** If an application uses one object for all requests, it holds that of the first caller, or of the last. */
export function hasSeveralRequests(operation: OperationContext): boolean {
  const found = candidatesOf(operation)
    .map(nodeRequestOf)
    .filter((node) => node !== undefined);
  return operation[CALLER] === SHARED_CALLER || new Set(found).size > 1;
}

/** The server passes an object with request and reply, or both as two arguments, or a socket. */
type ContextFunction = (...args: unknown[]) => Promise<unknown>;

/**
 * Returns a context function that replaces the `context` option of a GraphQL server. Each of its contexts
 * belongs to one request, and holds its caller. A class instance can't be copied: from its second request on,
 * it has no caller. `onShared` is called each time an object is returned for another request.
 */
export function separateContexts(option: unknown, onShared: () => void): ContextFunction {
  const owners = new WeakMap<object, object>();
  return async (...args) => {
    const context: unknown =
      typeof option === 'function' ? await (option as ContextFunction)(...args) : option;
    const caller = callerOf(args);
    if (typeof context !== 'object' || context === null) return context ?? { [CALLER]: caller };
    const isShared = belongsToAnother(context, originOf(caller), owners);
    if (isShared) onShared();
    return isPlain(context) ? copyOf(context, caller) : mark(context, isShared ? SHARED_CALLER : caller);
  };
}

type Options = Readonly<Record<string, unknown>>;
type Hook = (...args: unknown[]) => unknown;

/**
 * Returns the options by which sockets get their contexts, with contexts that hold their caller too:
 * `subscription` of Mercurius, and `subscriptions` of Apollo, whose `graphql-ws` may have a context of its own.
 * subscriptions-transport-ws passes its socket to `onConnect` alone.
 */
export function withSocketContexts(
  { subscription, subscriptions, installSubscriptionHandlers }: Options,
  onShared: () => void,
): Options {
  const own = optionsOf(subscriptions ?? { 'subscriptions-transport-ws': installSubscriptionHandlers });
  const { 'graphql-ws': newer, 'subscriptions-transport-ws': older } = own;
  return {
    ...(subscription ? { subscription: withHook(subscription, 'context', ofMercurius) } : {}),
    ...(newer || older
      ? {
          subscriptions: {
            ...own,
            ...(newer ? { 'graphql-ws': withContext(newer, onShared) } : {}),
            ...(older ? { 'subscriptions-transport-ws': withHook(older, 'onConnect', ofTransportWs) } : {}),
          },
        }
      : {}),
  };
}

const ofMercurius = ([socket, request]: unknown[]): OperationContext => ({ extra: { socket, request } });

/** The result of `onConnect` may have headers that the application has built of the client's parameters. */
const ofTransportWs = ([params, socket, connection]: unknown[], { headers }: Options): OperationContext => ({
  connectionParams: { headers, ...optionsOf(params) },
  extra: { socket, request: optionsOf(connection).request },
});

/** The options of a feature, which may be `true`. */
function optionsOf(value: unknown): Options {
  return typeof value === 'object' && value !== null ? (value as Options) : {};
}

function withContext(own: unknown, onShared: () => void): unknown {
  const { context } = optionsOf(own);
  return context === undefined ? own : { ...optionsOf(own), context: separateContexts(context, onShared) };
}

/** `false` of the application refuses the socket. */
function withHook(
  options: unknown,
  name: string,
  requestOf: (args: unknown[], context: Options) => OperationContext,
): Options {
  const own = optionsOf(options)[name];
  const hook: Hook = async (...args) => {
    const result = typeof own === 'function' ? await (own as Hook)(...args) : {};
    if (result === false) return false;
    const context = optionsOf(result);
    return { ...context, [CALLER]: { request: requestOf(args, context), reply: undefined } };
  };
  return { ...optionsOf(options), [name]: hook };
}

const NO_REQUEST = {};

function callerOf([first, second]: unknown[]): Caller {
  const { req, res } = (first ?? {}) as { readonly req?: unknown; readonly res?: unknown };
  return { request: req ?? first, reply: res ?? second };
}

/** Returns an object that all operations of one request, or of one socket, share. */
function originOf({ request }: Caller): object {
  const node =
    nodeRequestOf(request) ?? nodeRequestOf((request as OperationContext | undefined)?.extra?.request);
  return node ?? (typeof request === 'object' && request !== null ? request : NO_REQUEST);
}

function belongsToAnother(context: object, origin: object, owners: WeakMap<object, object>): boolean {
  const owner = owners.get(context);
  if (!owner) owners.set(context, origin);
  return owner !== undefined && owner !== origin;
}

function isPlain(context: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(context);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Copies getters as getters. The caller is enumerable, because Apollo copies only enumerable properties for
 * each operation.
 */
function copyOf(context: object, caller: Caller): object {
  const own = { ...Object.getOwnPropertyDescriptors(context), [CALLER]: { value: caller, enumerable: true } };
  return Object.create(Object.getPrototypeOf(context) as object | null, own) as object;
}

function mark(context: object, caller: Caller): object {
  return Reflect.set(context, CALLER, caller)
    ? context
    : (Object.create(context, { [CALLER]: { value: caller, enumerable: true } }) as object);
}
