import { Readable } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import { EMPTY, firstValueFrom, from, Observable, Subject, take, throwError } from 'rxjs';
import { iteratedIn, observedIn, streamedIn, subscribedIn } from './bound-streams.js';
import { currentCall, runInCall, type CurrentCall } from './current-call.js';

const CALL: CurrentCall = { admission: undefined };
const CONNECTION: CurrentCall = { admission: undefined };

describe('an Observable that is subscribed in a call', () => {
  it('is created, subscribed and unsubscribed as a part of the call, for each subscriber', () => {
    const steps: [step: string, isInCall: boolean][] = [];
    const note = (step: string): unknown => steps.push([step, currentCall() === CALL]);
    const create = (): Observable<string> => {
      note('created');
      return new Observable((subscriber) => {
        note('subscribed');
        subscriber.next('value');
        return () => note('unsubscribed');
      });
    };
    const observable = subscribedIn(CALL, create);
    expect(steps).toEqual([]);

    const values: string[] = [];
    const subscription = runInCall(CONNECTION, () => observable.subscribe((value) => values.push(value)));
    runInCall(CONNECTION, () => subscription.unsubscribe());
    observable.subscribe().unsubscribe();

    expect(values).toEqual(['value']);
    const each = ['created', 'subscribed', 'unsubscribed'].map((step) => [step, true]);
    expect(steps).toEqual([...each, ...each]);
  });

  it('completes and fails as its source does', () => {
    const ends: unknown[] = [];
    const observer = { complete: () => ends.push('completed'), error: (error: unknown) => ends.push(error) };
    subscribedIn(CALL, () => EMPTY).subscribe(observer);
    subscribedIn(CALL, () => throwError(() => 'fault')).subscribe(observer);
    expect(ends).toEqual(['completed', 'fault']);
  });

  it('stops a source that emits without end while it is subscribed', () => {
    function* numbers(): Generator<number> {
      for (let number = 0; ; number += 1) yield number;
    }
    const values: number[] = [];
    subscribedIn(CALL, () => from(numbers()))
      .pipe(take(2))
      .subscribe((value) => values.push(value));
    expect(values).toEqual([0, 1]);
  });

  it('is a part of no call, if it is to be a part of none', async () => {
    const observable = subscribedIn(
      undefined,
      () => new Observable((subscriber) => subscriber.next(currentCall() ?? 'none')),
    );
    expect(await runInCall(CONNECTION, () => firstValueFrom(observable))).toBe('none');
  });
});

describe('an Observable whose subscribers are called in a call', () => {
  it('emits, fails and completes as a part of the call, whatever its source is a part of', () => {
    const [source, failing] = [new Subject<string>(), new Subject<string>()];
    const found: unknown[] = [];
    const observer = {
      next: (value: string) => found.push([value, currentCall() === CALL]),
      error: (error: unknown) => found.push([error, currentCall() === CALL]),
      complete: () => found.push(['completed', currentCall() === CALL]),
    };
    observedIn(CALL, source).subscribe(observer);
    observedIn(CALL, failing).subscribe(observer);

    runInCall(CONNECTION, () => {
      source.next('one');
      source.complete();
      failing.error('fault');
    });
    expect(found).toEqual([
      ['one', true],
      ['completed', true],
      ['fault', true],
    ]);
  });

  it('can be unsubscribed, and keeps the other members of its source', () => {
    const source = Object.assign(new Subject<string>(), { drainBuffer: jest.fn() });
    const observed = observedIn(CALL, source) as typeof source;
    const subscription = observed.subscribe();
    expect(source.observed).toBe(true);
    subscription.unsubscribe();
    expect(source.observed).toBe(false);
    observed.drainBuffer();
    expect(source.drainBuffer).toHaveBeenCalledTimes(1);
  });
});

/** An iterator whose steps return what they got, and whether they are a part of the call. */
const stepsOf = (...names: ('next' | 'return' | 'throw')[]): AsyncIterable<unknown> => {
  const steps = names.map((name) => [
    name,
    function (this: object, value: unknown) {
      return Promise.resolve({ value: [name, value, currentCall() === CALL, name in this] });
    },
  ]);
  return {
    [Symbol.asyncIterator]: () =>
      ({ ...Object.fromEntries(steps), isInCall: currentCall() === CALL }) as AsyncIterator<unknown>,
  };
};

describe('an async iterator that runs in a call', () => {
  it.each(['next', 'return', 'throw'] as const)('runs %s() as a part of the call', async (name) => {
    const iterator = iteratedIn(CALL, stepsOf('next', 'return', 'throw'));
    expect(await runInCall(CONNECTION, () => iterator[name]?.('value'))).toEqual({
      value: [name, 'value', true, true],
    });
  });

  it('is created as a part of the call', () => {
    const created = jest.fn();
    const iterable = {
      [Symbol.asyncIterator]: () => (
        created(currentCall()),
        { next: () => Promise.reject(new Error('not called')) }
      ),
    };
    runInCall(CONNECTION, () => iteratedIn(CALL, iterable));
    expect(created.mock.calls).toEqual([[CALL]]);
  });

  it('has only the steps of its iterable, and iterates over itself', () => {
    const iterator = iteratedIn(CALL, stepsOf('next'));
    expect(Object.keys(iterator)).toEqual(['next']);
    expect(iterator[Symbol.asyncIterator]()).toBe(iterator);
  });

  it('ends a generator that its consumer leaves', async () => {
    const found: unknown[] = [];
    async function* events(): AsyncGenerator<number> {
      try {
        yield await Promise.resolve(1);
        yield 2;
      } finally {
        found.push(currentCall());
      }
    }
    for await (const event of iteratedIn(CALL, events())) {
      found.push(event);
      break;
    }
    expect(found).toEqual([1, CALL]);
  });
});

describe('what a handler returns', () => {
  const found = (): string => (currentCall() === CALL ? 'in the call' : 'outside');
  const readIn = async (stream: AsyncIterable<unknown>): Promise<unknown[]> => {
    const parts: unknown[] = [];
    await runInCall(CONNECTION, async () => {
      for await (const part of stream) parts.push(String(part));
    });
    return parts;
  };
  function readable(): Readable {
    let parts = 0;
    return new Readable({
      read() {
        parts += 1;
        this.push(parts > 2 ? null : found());
      },
      destroy(error, done) {
        ended.push(found());
        done(error);
      },
    });
  }
  const web = (): ReadableStream<Uint8Array<ArrayBuffer>> => {
    let parts = 0;
    return new ReadableStream(
      {
        pull: (controller) => {
          parts += 1;
          if (parts > 2) controller.close();
          else controller.enqueue(new TextEncoder().encode(found()));
        },
      },
      { highWaterMark: 0 },
    );
  };
  const ended: string[] = [];
  const readWeb = async (stream: ReadableStream<Uint8Array>): Promise<unknown[]> => {
    const reader = stream.getReader();
    const parts: unknown[] = [];
    for (let part = await reader.read(); !part.done; part = await reader.read())
      parts.push(Buffer.from(part.value).toString());
    return parts;
  };
  const BOTH = ['in the call', 'in the call'];

  it('is read as a part of the call, if it is a stream of Node.js', async () => {
    const [stream, file] = [readable(), new StreamableFile(readable())];
    expect(streamedIn(CALL, stream)).toBe(stream);
    expect(streamedIn(CALL, file)).toBe(file);
    expect([await readIn(stream), await readIn(file.getStream())]).toEqual([BOTH, BOTH]);
    expect(ended).toEqual(BOTH);
  });

  it('is read as a part of the call, if it is a stream of the web, or a response', async () => {
    const [stream, response] = runInCall(CALL, () => [web(), new Response(web())] as const);
    expect(streamedIn(CALL, stream)).toBe(stream);
    expect(streamedIn(CALL, response)).toBe(response);
    const read = (each: ReadableStream<Uint8Array>): Promise<unknown[]> =>
      runInCall(CONNECTION, () => readWeb(each));
    expect([await read(stream), await read(response.body as ReadableStream<Uint8Array>)]).toEqual([
      BOTH,
      BOTH,
    ]);
    expect(streamedIn(CALL, new Response(null)).body).toBeNull();
  });

  it('is wrapped if it is an iterable, which several calls may share, and keeps its other members', async () => {
    const shared = {
      name: 'shared',
      async *[Symbol.asyncIterator]() {
        yield await Promise.resolve(found());
      },
    };
    const wrapped = streamedIn(CALL, shared);
    expect([await readIn(wrapped), wrapped.name, await readIn(shared)]).toEqual([
      ['in the call'],
      'shared',
      ['outside'],
    ]);
    expect(JSON.stringify(wrapped)).toBe('{"name":"shared"}');
  });

  it('stays as it is otherwise', () => {
    const thenable = Object.assign(stepsOf('next'), { then: () => undefined });
    for (const value of [[], {}, EMPTY, null, undefined, 'text', 7, () => undefined, thenable])
      expect(streamedIn(CALL, value)).toBe(value);
  });
});
