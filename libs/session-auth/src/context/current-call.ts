import { AsyncLocalStorage } from 'node:async_hooks';
import type { Admission } from '../guard/guarded-request.js';

export interface CurrentCall {
  /** The admission of the call; `undefined` if no guard has admitted it. */
  readonly admission: Admission | undefined;
}

/** One for all applications of a process: a call of a handler replaces the call that it was made in. */
const calls = new AsyncLocalStorage<CurrentCall | undefined>();

export function currentCall(): CurrentCall | undefined {
  return calls.getStore();
}

export function runInCall<Result>(call: CurrentCall | undefined, run: () => Result): Result {
  return calls.run(call, run);
}
