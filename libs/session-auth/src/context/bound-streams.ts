import { Observable, type Observer, Subject, takeUntil } from 'rxjs';
import { runInCall, type CurrentCall } from './current-call.js';

/**
 * Returns an Observable that is created, subscribed and unsubscribed as a part of a call, and whose values
 * produce their parts as a part of it. The source gets an observer of its own: with the subscriber itself, it
 * would be unsubscribed in the context of the code that unsubscribes.
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
      next: (value) => subscriber.next(streamedIn(call, value)),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    };
    runInCall(call, () => create().pipe(takeUntil(unsubscribed)).subscribe(observer));
  });
}

/**
 * Calls the subscribers as a part of a call: a stream of requests emits in the context of its connection. Keeps
 * the other members, such as `drainBuffer()` of gRPC.
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

type Method = (this: unknown, ...parameters: unknown[]) => unknown;

/** The used part of what a handler returns, if it produces its parts later. */
interface Streamed {
  /** `StreamableFile` of Nest. */
  getStream?(): object;
  /** `Response` of the web. */
  readonly body?: object | null;
  _read?: Method;
  getReader?: Method;
  then?: unknown;
  [Symbol.asyncIterator]?(): unknown;
}

/**
 * Returns the result of a handler, whose parts are produced as a part of a call: a stream, or a generator, runs
 * in the context of whatever asks for its next part. Streams are read once, and changed. An iterable may be that
 * of several calls, and is wrapped.
 */
export function streamedIn<Value>(call: CurrentCall | undefined, value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  const streamed = value as Streamed;
  if (typeof streamed.getStream === 'function') streamedIn(call, streamed.getStream());
  else if (value instanceof Response) streamedIn(call, value.body);
  else if (typeof streamed._read === 'function') bindIn(call, streamed, ['_read', '_destroy']);
  else if (typeof streamed.getReader === 'function') bindReaders(call, streamed);
  else if (isAsyncIterable(value) && typeof streamed.then !== 'function')
    return (
      'next' in value
        ? iteratedIn(call, value)
        : Object.create(value, {
            // Its own members are those that JSON has.
            ...Object.getOwnPropertyDescriptors(value),
            [Symbol.asyncIterator]: { value: () => iteratedIn(call, value) },
          })
    ) as Value;
  return value;
}

function bindReaders(call: CurrentCall | undefined, stream: Streamed): void {
  const open = stream.getReader;
  stream.getReader = (...parameters) => {
    const reader = open?.apply(stream, parameters);
    bindIn(call, reader as object, ['read', 'cancel']);
    return reader;
  };
}

function bindIn(call: CurrentCall | undefined, owner: object, names: readonly string[]): void {
  const methods = owner as Record<string, Method | undefined>;
  for (const name of names) {
    const method = methods[name];
    if (method) methods[name] = (...parameters) => runInCall(call, () => method.apply(owner, parameters));
  }
}

type Step = (this: unknown, ...parameters: unknown[]) => Promise<IteratorResult<unknown>>;

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

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
