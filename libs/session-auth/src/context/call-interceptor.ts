import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { isObservable, type Observable } from 'rxjs';
import type { Admission } from '../guard/guarded-request.js';
import { observedIn, subscribedIn } from './bound-streams.js';
import { currentCall, type CurrentCall } from './current-call.js';
import { admissionTo } from './current-user-of.js';
import { FieldCall } from './field-calls.js';

/** Its interceptors share the array of its arguments. */
class HandlerCall implements CurrentCall {
  readonly admission: Admission | undefined;
  readonly #args: unknown;

  constructor(admission: Admission | undefined, args: unknown) {
    this.admission = admission;
    this.#args = args;
  }

  isCallWith(args: unknown): boolean {
    return this.#args === args;
  }
}

/**
 * Runs handlers as a part of their call, with the pipes and the interceptors after this one. An interceptor,
 * because what a guard sets in an `AsyncLocalStorage` after its first `await` is lost when it returns.
 */
export class CallInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const outer = currentCall();
    const args = context.getArgs<unknown[]>();
    if (isCallWith(outer, args)) return next.handle();
    const admission = admissionTo(context);
    if (!admission && !outer) return next.handle();
    const call = admission && new HandlerCall(admission, args);
    if (context.getType<string>() === 'rpc' && isObservable(args[0])) args[0] = observedIn(call, args[0]);
    return subscribedIn(call, () => next.handle());
  }
}

function isCallWith(call: CurrentCall | undefined, args: unknown[]): boolean {
  return (call instanceof HandlerCall || call instanceof FieldCall) && call.isCallWith(args);
}
