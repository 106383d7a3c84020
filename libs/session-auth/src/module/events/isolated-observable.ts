import type { Observable, Observer } from 'rxjs';
import { isLate } from '../../contract/late-results.js';

type Parts<Value> = { readonly [Name in keyof Observer<Value>]?: Observer<Value>[Name] | undefined };
type Next<Value> = ((value: Value) => unknown) | Parts<Value> | null | undefined;

/**
 * Returns an observable whose subscribers can't harm its source: an exception or a rejection of a subscriber,
 * or of an operator of `pipe()`, is reported. RxJS would throw it from a timer, which ends the process.
 */
export function isolated<Value>(source: Observable<Value>, failed: () => void): Observable<Value> {
  const pipe = source.pipe.bind(source) as (...operators: unknown[]) => Observable<unknown>;
  // By name, because one of its signatures is deprecated.
  const subscribe = (Reflect.get(source, 'subscribe') as (observer: object) => unknown).bind(source);
  const methods: object = {
    pipe: (...operators: unknown[]) =>
      operators.length === 0 ? source : isolated(pipe(...operators), failed),
    // An operator subscribes with a subscriber of RxJS. What follows the operator is isolated.
    subscribe: (first: Next<Value>, error?: Parts<Value>['error'], complete?: Parts<Value>['complete']) => {
      if (isSubscriber(first)) return subscribe(first);
      const next = typeof first === 'function' ? first : undefined;
      return subscribe(
        isolatedObserver(typeof first === 'object' && first ? first : { next, error, complete }, failed),
      );
    },
  };
  return Object.assign(source, methods);
}

function isolatedObserver<Value>(observer: Parts<Value>, failed: () => void): Observer<Value> {
  const attempt = (call: () => unknown): void => {
    try {
      isLate(call(), failed);
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

function isSubscriber(observer: unknown): observer is Record<'isStopped' | 'closed', unknown> {
  return typeof observer === 'object' && observer !== null && 'isStopped' in observer && 'closed' in observer;
}
