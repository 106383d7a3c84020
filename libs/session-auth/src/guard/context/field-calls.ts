import { lastAdmissionOf, type Admission } from '../guarded-request.js';
import { admittedField } from '../graphql/graphql-transport.js';
import { runInCall, type CurrentCall } from './current-call.js';

/** The place of a field in a response. graphql-js creates one object for each, with that of the field above as `prev`. */
interface Path {
  readonly prev: Path | undefined;
}

/** The used part of the info object of a field. */
interface FieldInfo {
  readonly path: Path;
  /** One object for each execution. */
  readonly variableValues: object;
}

interface FieldCall {
  readonly execution: object;
  readonly call: CurrentCall;
}

const fields = new WeakMap<Path, FieldCall>();

/** Stores the call of a field, for the fields below it. */
export function storeFieldCall({ path, variableValues }: FieldInfo, call: CurrentCall): void {
  fields.set(path, { execution: variableValues, call });
}

/** Returns the info object among the arguments of a resolver; `undefined` if there is none. */
export function infoIn(args: readonly unknown[]): FieldInfo | undefined {
  return [args[3], args[2]].find(isInfo);
}

function isInfo(candidate: unknown): candidate is FieldInfo {
  const { path, variableValues } = (candidate ?? {}) as Partial<FieldInfo>;
  return typeof path === 'object' && typeof variableValues === 'object';
}

/** A field, which has the admission of its own guard, or that of the nearest field above it that has one. */
class NestedField implements CurrentCall {
  readonly #info: FieldInfo;

  constructor(info: FieldInfo) {
    this.#info = info;
  }

  get admission(): Admission | undefined {
    const own = admittedField(this.#info);
    return own ? lastAdmissionOf(own) : callAbove(this.#info)?.admission;
  }
}

/** The execution is compared, because an executor may share the paths of compiled operations. */
function callAbove({ path, variableValues }: FieldInfo): CurrentCall | undefined {
  for (let above = path.prev; above; above = above.prev) {
    const found = fields.get(above);
    if (found) return found.execution === variableValues ? found.call : undefined;
  }
  return undefined;
}

/** The argument of a field middleware. A resolver of references has one argument less: its info object is in the place of the context. */
interface FieldMiddlewareContext {
  readonly context?: unknown;
  readonly info?: unknown;
}

type FieldMiddleware = (field: FieldMiddlewareContext, next: () => Promise<unknown>) => unknown;

/** Runs the resolver of a field as a part of its call. Nest runs no interceptors on fields, unless `fieldResolverEnhancers` has them. */
export const runField: FieldMiddleware = (field, next) => {
  const info = infoIn([undefined, undefined, field.context, field.info]);
  if (!info) return runInCall(undefined, next);
  const call = new NestedField(info);
  storeFieldCall(info, call);
  return runInCall(call, next);
};

/** Runs the resolver of a public field as a part of no call. */
export const runPublicField: FieldMiddleware = (_field, next) => runInCall(undefined, next);
