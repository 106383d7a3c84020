import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { Deadline } from '../../libs/session-auth/src/client/deadline.js';
import { Admission, strangersShare } from '../../libs/session-auth/src/verifier/lanes/admission.js';
import { Lane, type AdmissionResult, type LaneParts } from '../../libs/session-auth/src/verifier/lanes/lane.js';
import { Pace } from '../../libs/session-auth/src/verifier/lanes/pace.js';
import { Retry } from '../../libs/session-auth/src/verifier/lanes/retry.js';
import { RetryBudget } from '../../libs/session-auth/src/verifier/lanes/retry.js';
import { StrangersLimit } from '../../libs/session-auth/src/verifier/lanes/strangers-limit.js';

const TIMEOUT_MS = 60_000;

type LaneName = 'known' | 'strangers';
interface Step {
  readonly does: 'come' | 'answer' | 'end' | 'slow' | 'quick';
  readonly lane: LaneName;
  readonly which: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom<Step['does'][]>(...Array<'come'>(6).fill('come'), ...Array<'answer'>(4).fill('answer'), 'end', 'slow', 'quick'),
  lane: fc.constantFrom('known', 'strangers'),
  which: fc.nat(1_000),
});

/** Checks that come, wait, are answered and time out, in any order; `demand` throws where a bound does not hold. */
class Turnstile {
  readonly #lanes: Readonly<Record<LaneName, Lane>>;
  readonly #admission: Admission;
  readonly #waiting: Deadline[] = [];
  readonly #limit: StrangersLimit;
  #nowMs = 0;
  #mostInFlight = 0;
  readonly #settings: { readonly maxInFlight: number; readonly maxQueued: number };

  constructor(maxInFlight: number, maxQueued: number) {
    this.#settings = { maxInFlight, maxQueued };
    this.#limit = new StrangersLimit({ maxInFlight, timeoutMs: TIMEOUT_MS });
    this.#limit.hold(performance.now());
    const [share, queueShare] = [strangersShare(maxInFlight), strangersShare(maxQueued)];
    this.#lanes = {
      known: laneOf({ share: maxInFlight - share, queueShare: maxQueued - queueShare }),
      strangers: laneOf({ share, queueShare, limit: this.#limit }),
    };
    this.#admission = new Admission(this.#settings, this.#lanes.known, this.#lanes.strangers);
  }

  async take({ does, lane: name, which }: Step): Promise<void> {
    const lane = this.#lanes[name];
    const before = this.#lanes.strangers.inFlight;
    const knownWaited = this.#lanes.known.waiting.size > 0;
    if (does === 'come') this.#come(name);
    else if (does === 'answer' && lane.inFlight > 0) this.#admission.leave(lane);
    else if (does === 'end') this.#waiting.splice(which % (this.#waiting.length + 1), 1)[0]?.end('aborted');
    else if (does !== 'answer' && this.#lanes.strangers.inFlight > 0) this.#adapt(does === 'slow' ? TIMEOUT_MS : 1);
    this.#demandBounds();
    const { inFlight, share } = this.#lanes.strangers;
    const isOfOnePlace = this.#settings.maxInFlight === 1;
    demand(
      isOfOnePlace || !knownWaited || inFlight <= Math.max(before, share),
      'while known checks wait, strangers get no more than their share',
    );
    await Promise.resolve();
  }

  close(): void {
    for (const deadline of this.#waiting) deadline.end('aborted');
  }

  #come(name: LaneName): void {
    const deadline = new Deadline(TIMEOUT_MS);
    const waitedBefore = this.#lanes.known.waiting.size;
    const entering = this.#admission.enter(this.#lanes[name], deadline);
    const settled = (admitted: AdmissionResult): void => {
      deadline.clear();
      const { known } = this.#lanes;
      const waits = Math.max(waitedBefore, known.waiting.size);
      if (name === 'known' && admitted === 'full')
        demand(waits >= known.queueShare, 'a known check is refused only where its share is full');
    };
    if (typeof entering === 'string') settled(entering);
    else {
      this.#waiting.push(deadline);
      void entering.then((admitted) => {
        deadline.clear();
        this.#waiting.splice(this.#waiting.indexOf(deadline), 1);
        return admitted;
      });
    }
  }

  /** A stranger is answered, after ten calls that took so long: the limit shrinks or grows. */
  #adapt(durationMs: number): void {
    const { strangers } = this.#lanes;
    this.#nowMs += 2 * TIMEOUT_MS;
    for (let call = 0; call < 10; call += 1) this.#limit.record(durationMs, this.#nowMs, strangers.inFlight);
    this.#admission.leave(strangers);
  }

  /** A limit that shrinks ends no call: those in flight may be more until they are answered. */
  #mostStrangers(): number {
    this.#mostInFlight = Math.max(this.#limit.current, Math.min(this.#mostInFlight, this.#lanes.strangers.inFlight));
    return this.#mostInFlight;
  }

  #demandBounds(): void {
    const { known, strangers } = this.#lanes;
    const { maxInFlight, maxQueued } = this.#settings;
    const inFlight = known.inFlight + strangers.inFlight;
    demand(known.inFlight >= 0 && strangers.inFlight >= 0 && inFlight <= maxInFlight, 'calls in flight are within maxInFlight');
    demand(known.waiting.size + strangers.waiting.size <= maxQueued, 'checks that wait are within maxQueued');
    demand(strangers.inFlight <= this.#mostStrangers(), 'strangers in flight are within their limit');
    demand(known.waiting.size === 0 || inFlight === maxInFlight, 'no known check waits beside a free place');
    demand(
      strangers.waiting.size === 0 || inFlight === maxInFlight || strangers.inFlight >= this.#limit.current,
      'no stranger waits beside a free place within the limit',
    );
  }
}

function laneOf(parts: Omit<LaneParts, 'pace' | 'retry' | 'breaker'>): Lane {
  const pace = new Pace(TIMEOUT_MS);
  return new Lane({ ...parts, pace, retry: new Retry({ maxAttempts: 1 }, new RetryBudget(), pace), breaker: undefined });
}

function demand(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`It does not hold that ${claim}`);
}

describe('the shares of the lanes', () => {
  it('hold in any order of checks, answers and timeouts', async () => {
    const sizes = fc.record({ maxInFlight: fc.integer({ min: 1, max: 12 }), maxQueued: fc.integer({ min: 0, max: 12 }) });
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(step, { maxLength: 200 }), async ({ maxInFlight, maxQueued }, steps) => {
        const turnstile = new Turnstile(maxInFlight, maxQueued);
        try {
          for (const one of steps) await turnstile.take(one);
        } finally {
          turnstile.close();
        }
      }),
      { numRuns: 500 },
    );
  });
});
