import assert from 'node:assert/strict';
import { Connection } from './connection.js';
import { serve } from './serve.js';

/** The request to repeat. */
export interface Traffic {
  readonly path: string;
  /** Header that changes from request to request. */
  readonly header: string;
  /**
   * Its values. Each connection has its own share of them, so that no two ask with the same one at a time.
   */
  readonly values: readonly string[];
}

/** Traffic to one application, over a number of connections. */
export interface Load extends Traffic {
  readonly url: string;
  readonly connections: number;
}

/** The number of replies of each status, and the elapsed time. */
export interface LoadResult {
  readonly replies: Record<string, number>;
  readonly elapsedMs: number;
}

/** The request to repeat, and the duration. */
export type TimedLoad = Load & { readonly durationMs: number };

/** Sends the next request of one connection. */
type SendNext = () => Promise<number>;

async function measure(
  load: Load,
  drive: (send: SendNext, count: (status: number) => void) => Promise<void>,
): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => Connection.open(load.url)),
  );
  const senders = connections.map((connection, share) => sender(connection, load, share));
  const replies: Record<string, number> = {};
  const count = (status: number): void => void (replies[status] = (replies[status] ?? 0) + 1);
  try {
    const started = performance.now();
    await Promise.all(senders.map((send) => drive(send, count)));
    return { replies, elapsedMs: performance.now() - started };
  } finally {
    for (const connection of connections) connection.close();
  }
}

function sender(
  connection: Connection,
  { path, header, values, connections }: Load,
  share: number,
): SendNext {
  const own = values.filter((_, index) => index % connections === share % values.length);
  const requests = own.map((value) => connection.request(path, header, value));
  let next = 0;
  return () => connection.send(requests[(next += 1) % requests.length] ?? Buffer.alloc(0));
}

const handlers = {
  /** Each connection sends its next request after the last reply, until the time is over. */
  sendFor: ({ durationMs, ...load }: TimedLoad): Promise<LoadResult> => {
    return measure(load, async (send, count) => {
      const until = performance.now() + durationMs;
      while (performance.now() < until) count(await send());
    });
  },
  /** Each connection sends so many requests, one after the other. Returns the milliseconds that each took. */
  timeEach: async ({ requests, ...load }: Load & { readonly requests: number }): Promise<number[]> => {
    const times: number[] = [];
    const { replies } = await measure(load, async (send, count) => {
      for (let sent = 0; sent < requests; sent += 1) {
        const startedMs = performance.now();
        count(await send());
        times.push(performance.now() - startedMs);
      }
    });
    assert.deepEqual(replies, { 200: load.connections * requests });
    return times;
  },
  /** Each connection sends one request, all at once. */
  sendOnce: (load: Load): Promise<LoadResult> => measure(load, async (send, count) => count(await send())),
};

export type LoadApi = typeof handlers;
serve(handlers);
