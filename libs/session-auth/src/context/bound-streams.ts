import { Observable, type Observer, Subject, takeUntil } from 'rxjs';
import { runInCall, type CurrentCall } from './current-call.js';

/**
 * Returns an Observable that is subscribed, and unsubscribed, as a part of a call. `create` is called for
 * each subscriber, as a part of it too. The source gets an observer of its own: with the subscriber itself,
 * it would be unsubscribed in the context of the code that unsubscribes.
 */
export function subscribedIn<Value>(
  call: CurrentCall | undefined,
  create: () => Observable<Value>,
): Observable<Value> {
  return new Observable((subscriber) => {
    const unsubscribed = new Subject<void>();
    // Added before the subscription, because the source may emit without end while it is subscribed.
    subscriber.add(() => runInCall(call, () => unsubscribed.next()));
    const observer: Observer<Value> = {
      next: (value) => subscriber.next(value),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    };
    runInCall(call, () => create().pipe(takeUntil(unsubscribed)).subscribe(observer));
  });
}

/**
 * Returns the same Observable, with subscribers that are called as a part of a call. A stream of requests
 * emits in the context of its connection. Keeps the other members, such as `drainBuffer()` of gRPC.
 */
export function observedIn<Value>(
  call: CurrentCall | undefined,
  source: Observable<Value>,
): Observable<Value> {
  const observed = new Observable<Value>((subscriber) => source.subscribe(observerIn(call, subscriber)));
  const subscribe = (...observer: []) => observed.subscribe(...observer);
  return Object.create(source, { subscribe: { value: subscribe } }) as Observable<Value>;
}

function observerIn<Value>(call: CurrentCall | undefined, observer: Observer<Value>): Observer<Value> {
  return {
    next: (value) => runInCall(call, () => observer.next(value)),
    error: (error: unknown) => runInCall(call, () => observer.error(error)),
    complete: () => runInCall(call, () => observer.complete()),
  };
}

type Step = (this: unknown, ...parameters: unknown[]) => Promise<IteratorResult<unknown>>;

/**
 * Returns an async iterator whose steps run as a part of a call: a generator runs in the context of whatever
 * asks for its next value.
 */
export function iteratedIn(
  call: CurrentCall | undefined,
  iterable: AsyncIterable<unknown>,
): AsyncIterableIterator<unknown> {
  const iterator = runInCall(call, () => iterable[Symbol.asyncIterator]()) as unknown as Partial<
    Record<string, Step>
  >;
  const stepOf = (name: string): Record<string, Step> => {
    const step = iterator[name];
    return step ? { [name]: (...parameters) => runInCall(call, () => step.apply(iterator, parameters)) } : {};
  };
  const steps = {
    ...stepOf('next'),
    ...stepOf('return'),
    ...stepOf('throw'),
  } as unknown as AsyncIterator<unknown>;
  const bound: AsyncIterableIterator<unknown> = Object.assign(steps, { [Symbol.asyncIterator]: () => bound });
  return bound;
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
