import { ADMISSION, type Admission } from '../guard/guarded-request.js';
import { type FieldCalls, TRANSPORTS } from '../guard/transport.js';
import { runInCall, type CurrentCall } from './current-call.js';

/**
 * The argument of a field middleware. A resolver of references has one argument less: its context and info
 * are one place further left.
 */
interface FieldMiddlewareContext {
  readonly source?: unknown;
  readonly args?: unknown;
  readonly context?: unknown;
  readonly info?: unknown;
}

/** A field, which has the admission of its own guard, or that of the nearest field above it that has one. */
export class FieldCall implements CurrentCall {
  readonly #args: readonly unknown[];

  constructor({ source, args, context, info }: FieldMiddlewareContext) {
    this.#args = [source, args, context, info];
  }

  get admission(): Admission | undefined {
    const request = fieldCalls()?.admitted(this.#args);
    return request?.[ADMISSION];
  }

  isCallWith(args: readonly unknown[]): boolean {
    const fields = fieldCalls();
    return fields !== undefined && fields.keyOf(this.#args) === fields.keyOf(args);
  }
}

function fieldCalls(): FieldCalls | undefined {
  return TRANSPORTS.get('graphql')?.fields;
}

type FieldMiddleware = (field: FieldMiddlewareContext, next: () => Promise<unknown>) => unknown;

/** Nest runs no interceptors on fields, unless `fieldResolverEnhancers` has them. */
export const runField: FieldMiddleware = (field, next) => runInCall(new FieldCall(field), next);

export const runPublicField: FieldMiddleware = (_field, next) => runInCall(undefined, next);
