import type { Deadline } from '../client/deadline.js';
import type { BulkheadResult, Lane } from './lane.js';

/** Bounds of calls in flight, and of checks that wait. */
export interface BulkheadSettings {
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

/** With a single place, every fourth turn goes to strangers while known sessions wait too. */
const STRANGERS_TURN = 4;

/**
 * Returns how many of the places are reserved for strangers: a quarter, at least one of two or more, none of
 * one.
 */
export function strangersShare(places: number): number {
  return places < 2 ? 0 : Math.max(1, Math.floor(places / 4));
}

/**
 * Allocates places for calls in flight, and for checks that wait, to two lanes. A lane may use the idle
 * places of the other. A lane below its share gets the next free place. If the queue is full, a check of a
 * lane below its share replaces the oldest waiter of the other lane.
 */
export class Bulkhead {
  readonly #settings: BulkheadSettings;
  readonly #known: Lane;
  readonly #strangers: Lane;
  #turn = 0;

  constructor(settings: BulkheadSettings, known: Lane, strangers: Lane) {
    this.#settings = settings;
    this.#known = known;
    this.#strangers = strangers;
  }

  /** Takes a place, or waits for one until the deadline. A check that has entered must {@link leave}. */
  enter(lane: Lane, deadline: Deadline): BulkheadResult | Promise<BulkheadResult> {
    if (deadline.ended) return deadline.ended;
    if (lane.waiting.size === 0 && this.#hasPlace(lane)) {
      lane.inFlight += 1;
      return 'entered';
    }
    return lane.isWorthWaiting() && this.#makeRoom(lane) ? wait(lane, deadline) : 'full';
  }

  /** Releases a place, and gives all free places to waiting checks. */
  leave(lane: Lane): void {
    lane.inFlight -= 1;
    for (let next = this.#next(); next; next = this.#next()) letFirstEnter(next);
  }

  #hasPlace(lane: Lane): boolean {
    return this.#known.inFlight + this.#strangers.inFlight < this.#settings.maxInFlight && !lane.isAtLimit;
  }

  /** Returns the lane that gets the next place. */
  #next(): Lane | undefined {
    const [known, strangers] = [this.#known, this.#strangers];
    const strangersCan = strangers.waiting.size > 0 && this.#hasPlace(strangers);
    if (known.waiting.size === 0 || !this.#hasPlace(known)) return strangersCan ? strangers : undefined;
    if (!strangersCan) return known;
    if (this.#settings.maxInFlight > 1) return known.inFlight < known.share ? known : strangers;
    this.#turn = (this.#turn + 1) % STRANGERS_TURN;
    return this.#turn === 0 ? strangers : known;
  }

  #makeRoom(lane: Lane): boolean {
    const { maxQueued } = this.#settings;
    if (this.#known.waiting.size + this.#strangers.waiting.size < maxQueued) return true;
    if (lane.waiting.size >= lane.queueShare) return false;
    const [oldest] = (lane === this.#known ? this.#strangers : this.#known).waiting;
    oldest?.settle('full');
    return oldest !== undefined;
  }
}

/** Gives a place to the oldest waiting check, or none if too little of its time is left for a call. */
function letFirstEnter(lane: Lane): void {
  const [first] = lane.waiting;
  if (!first) return;
  const isInTime = lane.pace.fits(first.deadline.remainingMs);
  if (isInTime) lane.inFlight += 1;
  first.settle(isInTime ? 'entered' : 'full');
}

function wait(lane: Lane, deadline: Deadline): Promise<BulkheadResult> {
  return new Promise((resolve) => {
    const waiter = {
      deadline,
      settle: (result: BulkheadResult): void => {
        if (lane.waiting.delete(waiter)) resolve(result);
      },
    };
    lane.waiting.add(waiter);
    deadline.onEnd(waiter.settle);
  });
}
