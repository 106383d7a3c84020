import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { tokens, type TokenKind } from '../users.js';
import { zipf } from '../zipf.js';
import { guardInProcess, type GuardInProcess, type GuardOrder } from './guard-in-process.js';
import { serve } from './serve.js';

/** The arrivals of users. */
export interface Visits {
  /** The index of the application that they use. */
  readonly place: number;
  /** Kind of the users' tokens, by which calls are counted. */
  readonly kind: TokenKind;
  readonly sessions: number;
  readonly requestsPerSecond: number;
  /** Milliseconds that do not count: in them the sessions become known. */
  readonly warmUpMs: number;
  readonly durationMs: number;
  /** A session is active if its last reply is at most this old. */
  readonly activeMs: number;
}

/** How many requests there were, and how many of them waited for the service. */
export interface Waits {
  requests: number;
  waited: number;
  activeRequests: number;
  activeWaited: number;
}

const places: GuardInProcess[] = [];

/** Returns whether the guard had to ask: a cached session is there before the next turn of the event loop. */
async function waitsFor({ guard, newContext }: GuardInProcess, token: string): Promise<boolean> {
  const answer = Promise.resolve(guard.canActivate(newContext(token)) as boolean | Promise<boolean>);
  const first = await Promise.race([answer, nextTurn('waits')]);
  if (!(await answer)) throw new Error('A user is not let in');
  return first === 'waits';
}

async function visit({
  place,
  kind,
  sessions,
  requestsPerSecond,
  warmUpMs,
  durationMs,
  activeMs,
}: Visits): Promise<Waits> {
  const application = places[place];
  if (!application) throw new Error(`There is no place ${place}`);
  const users = tokens(kind, sessions);
  const draw = zipf(sessions);
  const lastAnswer = new Map<number, number>();
  const waits: Waits = { requests: 0, waited: 0, activeRequests: 0, activeWaited: 0 };
  const running: Promise<void>[] = [];
  const started = performance.now();
  let elapsed = 0;
  let sent = 0;
  while (elapsed <= warmUpMs + durationMs) {
    for (; sent < (elapsed / 1_000) * requestsPerSecond; sent += 1) {
      const user = draw();
      const active = performance.now() - (lastAnswer.get(user) ?? -Infinity) <= activeMs;
      const counts = elapsed > warmUpMs;
      const done = waitsFor(application, users[user] ?? '').then((waited) => {
        lastAnswer.set(user, performance.now());
        if (counts) count(waits, active, waited);
      });
      running.push(done);
    }
    await delay(2);
    elapsed = performance.now() - started;
  }
  await Promise.all(running);
  return waits;
}

function count(waits: Waits, active: boolean, waited: boolean): void {
  waits.requests += 1;
  waits.waited += Number(waited);
  waits.activeRequests += Number(active);
  waits.activeWaited += Number(active && waited);
}

const handlers = {
  /** Builds an application; the answer is its place in {@link Visits}. */
  open: async (order: GuardOrder): Promise<number> => places.push(await guardInProcess(order)) - 1,
  visit,
};

export type WaitingApi = typeof handlers;
serve(handlers);
