import { describe, expect, it, jest } from '@jest/globals';
import { map, Subject } from 'rxjs';
import { isolated } from './isolated-observable.js';

const fault = (): never => {
  throw new Error('fault');
};

/** An isolated observable, its source, and how often a subscriber of it has failed. */
function isolatedSource() {
  const source = new Subject<number>();
  const failed = jest.fn();
  return { source, failed, observable: isolated(source.asObservable(), failed) };
}

describe('a subscriber of an isolated observable', () => {
  it('that is a function, or an observer, gets what the source emits', () => {
    const { source, observable, failed } = isolatedSource();
    const received: unknown[] = [];
    observable.subscribe((value) => received.push(value));
    observable.subscribe({
      next: (value) => received.push(value),
      complete: () => received.push('completed'),
    });
    Reflect.apply(Reflect.get(observable, 'subscribe') as () => void, observable, [
      null,
      undefined,
      () => received.push('third'),
    ]);
    source.next(1);
    source.complete();
    expect([received, failed.mock.calls.length]).toEqual([[1, 1, 'completed', 'third'], 0]);
  });

  it('may stop, and may want nothing', () => {
    const { source, observable, failed } = isolatedSource();
    const received: unknown[] = [];
    const subscription = observable.subscribe((value) => received.push(value));
    observable.subscribe();
    observable.subscribe({});
    source.next(1);
    subscription.unsubscribe();
    source.next(2);
    source.complete();
    expect([received, failed.mock.calls.length]).toEqual([[1], 0]);
  });

  it.each<[string, () => unknown]>([
    ['throws', fault],
    ['rejects', () => Promise.reject(new Error('fault'))],
  ])('that %s is reported each time, and others get what the source emits', async (_how, next) => {
    const { source, observable, failed } = isolatedSource();
    const received: unknown[] = [];
    observable.subscribe(next);
    observable.subscribe((value) => received.push(value));
    source.next(1);
    source.next(2);
    await Promise.resolve();
    await Promise.resolve();
    expect([received, failed.mock.calls.length]).toEqual([[1, 2], 2]);
  });

  it('that throws at the end, or at an error, is reported', () => {
    const [completed, errored] = [isolatedSource(), isolatedSource()];
    completed.observable.subscribe({ complete: fault });
    completed.source.complete();
    errored.observable.subscribe({ error: fault });
    errored.source.error(new Error('of the source'));
    expect([completed, errored].map(({ failed }) => failed.mock.calls.length)).toEqual([1, 1]);
  });
});

describe('an operator of an isolated observable', () => {
  it('that throws is reported, and so is a subscriber after it', () => {
    const { source, observable, failed } = isolatedSource();
    observable.pipe(map(fault)).subscribe(() => undefined);
    observable.pipe(map((value) => value)).subscribe(fault);
    observable
      .pipe(map((value) => value))
      .pipe(map((value) => value))
      .subscribe(fault);
    source.next(1);
    expect(failed).toHaveBeenCalledTimes(3);
  });
});
