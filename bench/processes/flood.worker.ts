import { Agent, request } from 'node:http';
import { serve } from './serve.js';

/** Requests at a fixed rate, regardless of earlier replies, with these values in turn. */
export interface Callers {
  readonly values: readonly string[];
  readonly perSecond: number;
  /** Each request has another `X-AUTH-IV`, which begins with this. */
  readonly ivs?: string;
}

/** Callers of several kinds at once. */
export interface FloodOrder {
  readonly url: string;
  readonly header: string;
  readonly durationMs: number;
  /** Milliseconds after which a caller gives up. */
  readonly patienceMs: number;
  readonly callers: Readonly<Record<string, Callers>>;
}

/** The replies to callers of one kind. */
export interface Served {
  asked: number;
  /** Replies by their status; 0 where the caller gave up. */
  readonly replies: Record<number, number>;
  /** Milliseconds until each 200. */
  readonly waitsMs: number[];
}

const agent = new Agent({ keepAlive: true });

function ask(
  { url, header, patienceMs }: FloodOrder,
  value: string,
  authIv: string | undefined,
): Promise<number> {
  return new Promise((resolve) => {
    const call = request(
      url,
      { agent, headers: { [header]: value, ...(authIv !== undefined && { 'x-auth-iv': authIv }) } },
      (reply) => {
        reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
      },
    );
    call.setTimeout(patienceMs, () => call.destroy());
    call.on('error', () => resolve(0)).end();
  });
}

async function send(order: FloodOrder, { values, perSecond, ivs }: Callers): Promise<Served> {
  const served: Served = { asked: 0, replies: {}, waitsMs: [] };
  const pending: Promise<void>[] = [];
  const one = async (value: string, authIv: string | undefined): Promise<void> => {
    const startedAtMs = performance.now();
    const status = await ask(order, value, authIv);
    served.replies[status] = (served.replies[status] ?? 0) + 1;
    if (status === 200) served.waitsMs.push(performance.now() - startedAtMs);
  };
  const start = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - start;
      for (; served.asked < (Math.min(elapsedMs, order.durationMs) / 1_000) * perSecond; served.asked += 1) {
        pending.push(one(values[served.asked % values.length] ?? '', ivs && `${ivs}-${served.asked}`));
      }
      if (elapsedMs < order.durationMs) return;
      clearInterval(timer);
      resolve();
    }, 5);
  });
  await Promise.all(pending);
  return served;
}

const handlers = {
  /** Sends the requests of all callers. Resolves to the answers of each kind when the last has arrived. */
  flood: async (order: FloodOrder): Promise<Record<string, Served>> => {
    const kinds = Object.entries(order.callers).map(
      async ([kind, callers]) => [kind, await send(order, callers)] as const,
    );
    return Object.fromEntries(await Promise.all(kinds));
  },
};

export type FloodApi = typeof handlers;
serve(handlers);
