import type { NoReply } from './no-reply.js';

/** Why a deadline ended: its time passed, the application is shutting down, or the caller gave up. */
export type DeadlineEnd = 'timeout' | 'shutting_down' | 'aborted';

type Listener = (end: DeadlineEnd) => void;

/** The total time of one call, over its queue, its attempts and its body. Counts on a monotonic clock; lives no longer than its call. */
export class Deadline {
  readonly #expiresAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #release: (deadline: Deadline) => void;
  #listeners: Listener[] = [];
  #end: DeadlineEnd | undefined;

  constructor(durationMs: number, release: (deadline: Deadline) => void = () => undefined) {
    this.#expiresAt = performance.now() + durationMs;
    this.#timer = setTimeout(() => this.end('timeout'), durationMs).unref();
    this.#release = release;
  }

  /** How it ended, if it has. */
  get ended(): DeadlineEnd | undefined {
    return this.#end;
  }

  /** Milliseconds left, never below zero. */
  get remainingMs(): number {
    return Math.max(0, this.#expiresAt - performance.now());
  }

  /** Calls `listener` once at the end, at once if that has been. */
  onEnd(listener: Listener): void {
    if (this.#end === undefined) this.#listeners.push(listener);
    else listener(this.#end);
  }

  /** Ends it early, for all that listen. */
  end(reason: DeadlineEnd): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    const listeners = this.#listeners;
    this.clear();
    for (const listener of listeners) listener(reason);
  }

  /** Stops the clock: the call is over, and nobody needs to hear of its end. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#listeners = [];
    this.#release(this);
  }
}

/** What a call that met its deadline brought. */
export function noReplyAt(end: DeadlineEnd): NoReply {
  return { noReply: end === 'shutting_down' ? end : 'timeout' };
}
