import { CALLER, SHARED_CALLER, type Caller, type OperationContext } from './graphql-caller.js';
import { nodeRequestOf } from './node-request.js';

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
