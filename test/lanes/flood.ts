import { sessionKeysOf, tokenKeyOf } from '../../libs/session-auth/src/contract/session-identity.js';
import { Deadlines } from '../../libs/session-auth/src/client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import { type CallService, Lanes } from '../../libs/session-auth/src/verifier/lanes.js';
import { SeededRandom } from '../support/seeded-random.js';
import type { ServiceModel } from './service-models.js';
import type { VirtualClock } from './virtual-clock.js';

const SETTINGS = {
  timeoutMs: 3_000,
  maxAttempts: 2,
  maxInFlight: 128,
  maxQueued: 1_024,
  breaker: { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 30_000 },
};
const USERS = 300;
/** Requests of each kind, as a part of the service's capacity. */
const KNOWN_PART = 0.2;
const NEW_PART = 0.05;

/** The outcomes of the requests of one kind. */
export interface Outcome {
  asked: number;
  served: number;
  readonly waitsMs: number[];
}

/** Known users, new users with a good token each, and junk: the answer to junk is a refusal. */
export type Kind = 'known' | 'new' | 'junk';

/**
 * A flood of junk at a multiple of the capacity of a service, beside new users and known ones, who have
 * signed in before.
 */
export class Flood {
  readonly outcomes: Record<Kind, Outcome> = { known: outcome(), new: outcome(), junk: outcome() };
  readonly #clock: VirtualClock;
  readonly #service: ServiceModel;
  readonly #check: Lanes<string>;
  readonly #random = new SeededRandom(1);
  #fresh = 0;
  #isCounting = false;

  constructor(clock: VirtualClock, service: ServiceModel) {
    this.#clock = clock;
    this.#service = service;
    const callService: CallService<string> = ({ token }, deadline) =>
      new Promise((settle) => {
        deadline.onEnd((end) => settle(unavailable(end)));
        service.accept(() =>
          settle(token.startsWith('junk') ? UNAUTHENTICATED : { kind: 'authenticated', user: token }),
        );
      });
    this.#check = new Lanes(callService, new Deadlines(), SETTINGS);
    for (let user = 0; user < USERS; user += 1) this.#check.known.add(tokenKeyOf(`known-${user}`));
  }

  /** Simulates the users for a while, and then the flood with them. Only the time of the flood counts. */
  async run(times: number, durationMs: number): Promise<void> {
    const { capacity } = this.#service;
    const calmMs = 20_000;
    this.#send('known', capacity * KNOWN_PART, calmMs + durationMs);
    await this.#clock.runUntil(calmMs);
    this.#isCounting = true;
    this.#send('new', capacity * NEW_PART, calmMs + durationMs);
    this.#send('junk', capacity * times, calmMs + durationMs);
    await this.#clock.runUntil(calmMs + durationMs + SETTINGS.timeoutMs);
  }

  #send(kind: Kind, perSecond: number, untilMs: number): void {
    const pauseMs = (-Math.log(1 - this.#random.next()) * 1_000) / perSecond;
    if (this.#clock.nowMs + pauseMs > untilMs) return;
    this.#clock.after(pauseMs, () => {
      void this.#ask(
        kind,
        kind === 'known'
          ? `known-${Math.floor(this.#random.next() * USERS)}`
          : `${kind}-${(this.#fresh += 1)}`,
      );
      this.#send(kind, perSecond, untilMs);
    });
  }

  async #ask(kind: Kind, token: string): Promise<void> {
    const counts = this.#isCounting;
    const startedAtMs = this.#clock.nowMs;
    const session = { token, authIv: undefined };
    const keys = sessionKeysOf(session);
    const verdict: Verdict<string> = await this.#check.call(session, keys);
    this.#check.known.update(keys, verdict);
    if (!counts) return;
    this.outcomes[kind].asked += 1;
    if (verdict.kind === 'unavailable') return;
    this.outcomes[kind].served += 1;
    this.outcomes[kind].waitsMs.push(this.#clock.nowMs - startedAtMs);
  }
}

export function servedPart({ asked, served }: Outcome): number {
  return served / asked;
}

function outcome(): Outcome {
  return { asked: 0, served: 0, waitsMs: [] };
}
