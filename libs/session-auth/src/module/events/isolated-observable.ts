import type { Observable, Observer } from 'rxjs';

type Next<Value> = ((value: Value) => unknown) | Partial<Observer<Value>> | null | undefined;

/**
 * Returns an observable whose subscribers can't harm its source: an exception or a rejection of a subscriber,
 * or of an operator of `pipe()`, is reported. RxJS would throw it from a timer, which ends the process.
 */
export function isolated<Value>(source: Observable<Value>, failed: () => void): Observable<Value> {
  const pipe = source.pipe.bind(source) as (...operators: unknown[]) => Observable<unknown>;
  // By name, because one of its signatures is deprecated.
  const subscribe = (Reflect.get(source, 'subscribe') as (observer: Next<Value>) => unknown).bind(source);
  const methods: object = {
    pipe: (...operators: unknown[]) =>
      operators.length === 0 ? source : isolated(pipe(...operators), failed),
    // An operator subscribes with a subscriber of RxJS. What follows the operator is isolated.
    subscribe: (
      next: Next<Value>,
      error?: Observer<Value>['error'],
      complete?: Observer<Value>['complete'],
    ) => subscribe(isSubscriber(next) ? next : isolatedObserver(observerOf(next, error, complete), failed)),
  };
  return Object.assign(source, methods);
}

function observerOf<Value>(
  next: Next<Value>,
  error: Observer<Value>['error'] | undefined,
  complete: Observer<Value>['complete'] | undefined,
): Partial<Observer<Value>> {
  if (typeof next === 'object' && next !== null) return next;
  return { ...(next && { next }), ...(error && { error }), ...(complete && { complete }) };
}

function isolatedObserver<Value>(observer: Partial<Observer<Value>>, failed: () => void): Observer<Value> {
  const attempt = (call: () => unknown): void => {
    try {
      const result = call();
      if (result instanceof Promise) result.catch(failed);
    } catch {
      failed();
    }
  };
  return {
    next: (value) => attempt(() => observer.next?.(value)),
    error: (reason) => attempt(() => (observer.error ? observer.error(reason) : failed())),
    complete: () => attempt(() => observer.complete?.()),
  };
}

function isSubscriber(observer: unknown): boolean {
  return typeof observer === 'object' && observer !== null && 'isStopped' in observer && 'closed' in observer;
}
