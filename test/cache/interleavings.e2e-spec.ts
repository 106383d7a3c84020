import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Deadlines } from '../../libs/session-auth/src/client/deadline.js';
import {
  FORBIDDEN,
  UNAUTHENTICATED,
  unavailable,
  type Verdict,
} from '../../libs/session-auth/src/contract/outcome.js';
import { Lanes } from '../../libs/session-auth/src/verifier/lanes.js';
import { SessionCache } from '../../libs/session-auth/src/verifier/session-cache.js';
import { SessionVerifier } from '../../libs/session-auth/src/verifier/session-verifier.js';
import { inLongForm } from '../support/long-form.js';
import {
  SessionModel,
  type Lifetimes,
  type Question,
  type ServiceReply,
  type Reply,
} from './session-model.js';

/** A user of the model, by number. */
interface User {
  readonly number: number;
}

type Answer = 'accept' | Exclude<ServiceReply, number>;

type Step =
  | { readonly do: 'verify'; readonly maxAgeMs: number }
  | { readonly do: 'answer'; readonly which: number; readonly answer: Answer }
  | { readonly do: 'signedOut' | 'evict' | 'signedIn' }
  | { readonly do: 'wait'; readonly ms: number };

const answer = fc.oneof(
  { weight: 3, arbitrary: fc.constant('accept' as const) },
  fc.constantFrom<Answer[]>('refused', 'forbidden', 'out'),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('verify' as const),
      maxAgeMs: fc.constantFrom(Infinity, Infinity, 0, 30),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat(3), answer }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('signedOut' as const, 'evict' as const, 'signedIn' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 20, 49, 60, 99, 100, 150),
    }),
  },
);
const lifetimes: fc.Arbitrary<Lifetimes> = fc.record({
  ttlMs: fc.constant(100),
  negativeTtlMs: fc.constantFrom(0, 50),
  refreshAheadMs: fc.constantFrom(0, 40),
  staleIfErrorMs: fc.constantFrom(0, 50),
});

/** A call to the service without an answer yet, and the checks that wait for it. */
interface Call extends Question {
  readonly settle: (verdict: Verdict<User>) => void;
  readonly waiting: { readonly maxAgeMs: number; readonly reply: Promise<Reply> }[];
}

const VERDICTS = { refused: UNAUTHENTICATED, forbidden: FORBIDDEN, out: unavailable('server_error') };

function replyOf(verdict: Verdict<User>): Reply {
  if (verdict.kind === 'authenticated')
    return verdict.stale ? `stale ${verdict.user.number}` : verdict.user.number;
  return ({ unauthenticated: 'refused', forbidden: 'forbidden', unavailable: 'out' } as const)[verdict.kind];
}

/** Calls of one session at once. */
const MAX_CALLS = 2;

/**
 * One token, a verifier whose service answers when the steps say so, and the model beside it. Each user has
 * the number of its answer.
 */
class Trial {
  readonly #model: SessionModel;
  readonly #deadlines = new Deadlines();
  readonly #verifier: SessionVerifier<User>;
  readonly #clocks: readonly { mockRestore(): void }[];
  readonly #open: Call[] = [];
  /** Checks that wait until one of two calls has ended. */
  readonly #later: Call['waiting'][number][] = [];
  #answers = 0;

  constructor(settings: Lifetimes) {
    this.#model = new SessionModel(settings);
    const ask = (): Promise<Verdict<User>> =>
      new Promise((settle) => this.#open.push({ ...this.#model.question(), settle, waiting: [] }));
    const protection = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 1_000, maxQueued: 0 };
    this.#clocks = [performance, Date].map((clock) =>
      jest.spyOn(clock, 'now').mockImplementation(() => this.#model.nowMs),
    );
    const cache = new SessionCache<User>({ ...settings, maxEntries: 10 });
    this.#verifier = new SessionVerifier(new Lanes(ask, this.#deadlines, protection), { cache });
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const next of steps) {
      if (next.do === 'verify') this.#verify(next.maxAgeMs);
      else if (next.do === 'answer') await this.#answer(next.which, next.answer);
      else if (next.do === 'wait') this.#model.nowMs += next.ms;
      else this.#change(next.do);
    }
    while (this.#open.length > 0) await this.#answer(0, 'out');
    void this.#deadlines.close();
    for (const clock of this.#clocks) clock.mockRestore();
  }

  #verify(maxAgeMs: number): void {
    const expected = this.#model.fromCache(maxAgeMs);
    const [current, joined] = [Infinity, maxAgeMs].map((limit) =>
      this.#open.find((call) => this.#model.canJoin(call, limit)),
    );
    const before = this.#open.length;
    const verdict = this.#verifier.verify({ token: 'token', authIv: undefined }, maxAgeMs);
    const started = this.#open.length - before;
    if (!(verdict instanceof Promise)) {
      expect(replyOf(verdict)).toBe(expected);
      expect(started).toBeLessThanOrEqual(!current && this.#model.mayRefresh() ? 1 : 0);
      return;
    }
    expect(expected).toBeUndefined();
    const mustWait = !joined && before >= MAX_CALLS;
    expect(started).toBe(joined || mustWait ? 0 : 1);
    const waiting = mustWait ? this.#later : (joined ?? this.#open.at(-1))?.waiting;
    waiting?.push({ maxAgeMs, reply: verdict.then(replyOf) });
  }

  async #answer(which: number, kind: Answer): Promise<void> {
    const [call] = this.#open.splice(which % Math.max(1, this.#open.length), 1);
    if (!call) return;
    const reply: ServiceReply = kind === 'accept' ? (this.#answers += 1) : kind;
    call.settle(
      typeof reply === 'number' ? { kind: 'authenticated', user: { number: reply } } : VERDICTS[reply],
    );
    this.#model.answered(call, reply);
    for (const { maxAgeMs, reply: promise } of call.waiting)
      expect(await promise).toBe(this.#model.replyAfter(reply, maxAgeMs));
    await new Promise(setImmediate);
    expect(this.#open.length).toBeLessThanOrEqual(MAX_CALLS);
    this.#open.at(-1)?.waiting.push(...this.#later.splice(0));
  }

  #change(how: 'signedOut' | 'evict' | 'signedIn'): void {
    void this.#verifier.revoker[how]('token');
    if (how === 'evict') this.#model.evicted();
    else this.#model[how]();
  }
}

describe('any sequence of events of a token', () => {
  it('the cache answers only from a call since the last sign-out and forget, within `ttlMs`, and never after a refusal', async () => {
    await fc.assert(
      fc.asyncProperty(lifetimes, fc.array(step, { minLength: 5, maxLength: 60 }), (settings, steps) =>
        new Trial(settings).run(steps),
      ),
      { numRuns: inLongForm('1,000 of 1,500 interleavings') ? 1_500 : 500 },
    );
  });
});
