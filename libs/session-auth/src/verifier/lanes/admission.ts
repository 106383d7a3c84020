import type { Deadline } from '../../client/deadline.js';
import type { AdmissionResult, Lane } from './lane.js';

/** Bounds of calls in flight, and of checks that wait. */
export interface AdmissionSettings {
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

/** With a single place, every fourth turn goes to strangers while known sessions wait too. */
const STRANGERS_TURN = 4;

/** Returns how many of the places are reserved for strangers: a quarter, at least one of two or more, none of one. */
export function strangersShare(places: number): number {
  return places < 2 ? 0 : Math.max(1, Math.floor(places / 4));
}

/**
 * Allocates places for calls in flight, and for checks that wait, to two lanes. A lane may use the idle places of the other. A lane below its
 * share gets the next free place. If the queue is full, a check of a lane below its share replaces the oldest waiter of the other lane.
 */
export class Admission {
  readonly #settings: AdmissionSettings;
  readonly #known: Lane;
  readonly #strangers: Lane;
  #turn = 0;

  constructor(settings: AdmissionSettings, known: Lane, strangers: Lane) {
    this.#settings = settings;
    this.#known = known;
    this.#strangers = strangers;
  }

  /** Takes a place, or waits for one until the deadline. A check that was admitted must {@link leave}. */
  enter(lane: Lane, deadline: Deadline): AdmissionResult | Promise<AdmissionResult> {
    if (deadline.ended) return deadline.ended;
    if (lane.waiting.size === 0 && this.#hasPlace(lane)) {
      lane.inFlight += 1;
      return 'admitted';
    }
    return lane.isWorthWaiting() && this.#makeRoom(lane) ? wait(lane, deadline) : 'full';
  }

  /** Releases a place, and admits waiting checks to all free places. */
  leave(lane: Lane): void {
    lane.inFlight -= 1;
    for (let next = this.#next(); next; next = this.#next()) admitFirst(next);
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

/** Admits the oldest waiting check, or rejects it if too little of its time is left for a call. */
function admitFirst(lane: Lane): void {
  const [first] = lane.waiting;
  if (!first) return;
  const isInTime = lane.pace.fits(first.deadline.remainingMs);
  if (isInTime) lane.inFlight += 1;
  first.settle(isInTime ? 'admitted' : 'full');
}

function wait(lane: Lane, deadline: Deadline): Promise<AdmissionResult> {
  return new Promise((resolve) => {
    const waiter = {
      deadline,
      settle: (admitted: AdmissionResult): void => {
        if (lane.waiting.delete(waiter)) resolve(admitted);
      },
    };
    lane.waiting.add(waiter);
    deadline.onEnd(waiter.settle);
  });
}
