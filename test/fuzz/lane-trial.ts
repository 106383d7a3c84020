import { Deadlines, type Deadline } from '../../libs/session-auth/src/client/deadline.js';
import { unavailable, type Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import { Lanes } from '../../libs/session-auth/src/verifier/lanes.js';
import { SessionVerifier } from '../../libs/session-auth/src/verifier/session-verifier.js';

export interface LaneSizes {
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

export type LaneEvent =
  | { readonly kind: 'arrives'; readonly user: number }
  | { readonly kind: 'signs in'; readonly user: number }
  | { readonly kind: 'signs out'; readonly user: number }
  | { readonly kind: 'stranger arrives' }
  | { readonly kind: 'is answered'; readonly place: number; readonly reply: Reply }
  | { readonly kind: 'times out'; readonly place: number };

export type Reply = 'authenticated' | 'unauthenticated' | 'forbidden' | 'unavailable';
type Lane = 'known' | 'strangers';
type Outcome = Reply | 'busy' | 'timeout';

/** A check as the trial follows it, from outside. */
interface Check {
  readonly token: string;
  readonly lane: Lane;
  readonly deadline: Deadline;
  state: 'waiting' | 'in flight' | 'over';
  /** The expected outcome after the reply of the service or its deadline. */
  expected: Outcome | undefined;
  answer: (verdict: Verdict<object>) => void;
}

/** Longer than any case takes, so that no deadline ends by itself. */
const TIMEOUT_MS = 300_000;
const VERDICTS: Readonly<Record<Reply, Verdict<object>>> = {
  authenticated: { kind: 'authenticated', user: {} },
  unauthenticated: { kind: 'unauthenticated' },
  forbidden: { kind: 'forbidden' },
  unavailable: unavailable('malformed'),
};

/**
 * The lanes of one application, with a service that replies when the case says so. The rules are written from
 * the descriptions of the lanes: strangers have a quarter of the places and of the queue, at least one of two
 * or more; known sessions have the rest; a lane may use what the other leaves idle, and gets its share back
 * with the next free place.
 */
export class LaneTrial {
  readonly #sizes: LaneSizes;
  readonly #shares: Readonly<Record<Lane, { readonly places: number; readonly queue: number }>>;
  readonly #known = new Set<string>();
  readonly #checks: Check[] = [];
  readonly #started: Deadline[] = [];
  readonly #verifier: SessionVerifier<object>;
  #strangers = 0;
  /** Turns of a single place, since known sessions and strangers have both been waiting. */
  #strangersInARow = 0;
  readonly outcomes: Outcome[] = [];
  violation: string | undefined;
  /** Calls that were made before `ask` returned. */
  readonly #early = new Map<Deadline, Check['answer']>();
  #isOver = false;

  constructor(sizes: LaneSizes) {
    this.#sizes = sizes;
    const { maxInFlight, maxQueued } = sizes;
    const [places, queue] = [quarterOf(maxInFlight), quarterOf(maxQueued)];
    this.#shares = {
      strangers: { places, queue },
      known: { places: maxInFlight - places, queue: maxQueued - queue },
    };
    const deadlines = new FollowedDeadlines(this.#started);
    const check = new Lanes<object>(({ token }, deadline) => this.#asked(token, deadline), deadlines, {
      ...{ ...sizes, timeoutMs: TIMEOUT_MS, maxAttempts: 1 },
    });
    this.#verifier = new SessionVerifier(check);
  }

  async apply(event: LaneEvent): Promise<void> {
    if (event.kind === 'arrives') this.#arrive(`user-${event.user}`);
    else if (event.kind === 'stranger arrives') this.#arrive(`stranger-${(this.#strangers += 1)}`);
    else if (event.kind === 'signs in') this.#signIn(`user-${event.user}`);
    else if (event.kind === 'signs out') this.#signOut(`user-${event.user}`);
    else if (event.kind === 'is answered') this.#answer(this.#at(event.place, 'in flight'), event.reply);
    else this.#endTime(this.#at(event.place));
    await new Promise(setImmediate);
    this.#judgeState();
  }

  /** Answers all checks. Then all places must be free again, and no more than them. */
  async end(): Promise<void> {
    for (let check = this.#at(0, 'in flight'); check; check = this.#at(0, 'in flight')) {
      this.#answer(check, 'authenticated');
      await new Promise(setImmediate);
      this.#judgeState();
    }
    this.#require(this.#count('waiting') === 0, 'a check waits although nothing is in flight');
    for (let index = 0; index <= this.#sizes.maxInFlight; index += 1) this.#arrive(`last-${index}`);
    await new Promise(setImmediate);
    this.#require(
      this.#count('in flight') === this.#sizes.maxInFlight,
      'a place was lost, or there is one too many',
    );
    this.#isOver = true;
    for (const check of this.#checks) check.deadline.end('shutting_down');
    await new Promise(setImmediate);
  }

  #arrive(token: string): void {
    const lane = this.#known.has(token) ? 'known' : 'strangers';
    const mayWait = this.#count('waiting', lane) < this.#shares[lane].queue;
    this.#started.length = 0;
    const asking = this.#verifier.callService({ token, authIv: undefined });
    const [deadline] = this.#started;
    if (!deadline) throw new Error('A check without a deadline');
    const check: Check = {
      token,
      lane,
      deadline,
      state: 'waiting',
      expected: undefined,
      answer: () => undefined,
    };
    this.#checks.push(check);
    // `ask` may have run already.
    const early = this.#early.get(deadline);
    if (early) this.#admitted(check, early);
    void asking.then((verdict) => this.#settled(check, verdict, mayWait));
  }

  #asked(token: string, deadline: Deadline): Promise<Verdict<object>> {
    return new Promise((resolve) => {
      deadline.onEnd(() => resolve(unavailable('timeout')));
      const check = this.#checks.find((one) => one.deadline === deadline);
      if (check) this.#admitted(check, resolve);
      else this.#early.set(deadline, resolve);
      this.#require(check === undefined || check.token === token, 'the call of another session');
    });
  }

  #admitted(check: Check, answer: Check['answer']): void {
    this.#require(
      check.state === 'waiting' && check.expected === undefined,
      `a check is admitted that is ${check.state}`,
    );
    const first = this.#checks.find(
      ({ state, lane, expected }) => state === 'waiting' && lane === check.lane && expected === undefined,
    );
    this.#require(first === check, 'a check is admitted before an older one of its lane');
    this.#judgeTurn(check.lane);
    check.state = 'in flight';
    check.answer = answer;
  }

  /**
   * While both lanes wait, the next place belongs to the lane that has less than its share; of a single
   * place, every fourth turn to strangers.
   */
  #judgeTurn(lane: Lane): void {
    const other = lane === 'known' ? 'strangers' : 'known';
    const isContested = this.#count('waiting', other) > 0;
    if (!isContested) {
      this.#strangersInARow = 0;
      return;
    }
    this.#strangersInARow = lane === 'strangers' ? this.#strangersInARow + 1 : 0;
    if (this.#sizes.maxInFlight === 1)
      this.#require(this.#strangersInARow < 2, 'strangers get two turns of a single place');
    else if (lane === 'strangers')
      this.#require(this.#isAtShare('known'), 'strangers get a place of known sessions that wait');
    else
      this.#require(
        !this.#isAtShare('known') || this.#isAtShare('strangers'),
        'known sessions get a place of strangers that wait',
      );
  }

  #isAtShare(lane: Lane): boolean {
    return this.#count('in flight', lane) >= this.#shares[lane].places;
  }

  #settled(check: Check, verdict: Verdict<object>, mayWait: boolean): void {
    if (this.#isOver) return;
    const outcome = outcomeOf(verdict);
    this.outcomes.push(outcome);
    if (outcome === 'busy' && check.expected === undefined) {
      const waiting = this.#count('waiting', check.lane);
      this.#require(check.state === 'waiting', 'a check is turned away that had a place');
      // It was turned away at once, or another one took its place in the queue: that of a lane below its
      // share.
      this.#require(
        !mayWait || waiting > this.#shares[check.lane].queue,
        `${check.lane} are turned away within their share of the queue`,
      );
    } else
      this.#require(outcome === check.expected, `${outcome} instead of ${check.expected ?? 'no outcome'}`);
    this.#require(check.state !== 'over', 'a check settles twice');
    check.state = 'over';
    if (verdict.kind === 'authenticated') this.#known.add(check.token);
    else if (verdict.kind !== 'unavailable') this.#known.delete(check.token);
  }

  #answer(check: Check | undefined, reply: Reply): void {
    if (!check || check.expected !== undefined) return;
    check.expected = reply;
    check.answer(VERDICTS[reply]);
  }

  #endTime(check: Check | undefined): void {
    if (!check || check.expected !== undefined) return;
    check.expected = 'timeout';
    check.deadline.end('timeout');
  }

  #signIn(token: string): void {
    this.#verifier.revoker.signedIn(token);
    this.#known.add(token);
  }

  #signOut(token: string): void {
    this.#verifier.revoker.signedOut(token);
    this.#known.delete(token);
  }

  #judgeState(): void {
    const { maxInFlight, maxQueued } = this.#sizes;
    const [inFlight, waiting] = [this.#count('in flight'), this.#count('waiting')];
    this.#require(inFlight <= maxInFlight, `${inFlight} calls in flight`);
    this.#require(waiting <= maxQueued, `${waiting} checks wait`);
    this.#require(waiting === 0 || inFlight === maxInFlight, 'a check waits although a place is free');
    this.#require(
      this.#checks.every(({ state, expected }) => state === 'over' || expected === undefined),
      'a check is not settled although it has its outcome',
    );
  }

  #at(place: number, state?: Check['state']): Check | undefined {
    const checks = this.#checks.filter((check) =>
      state === undefined ? check.state !== 'over' : check.state === state,
    );
    return checks[place % Math.max(1, checks.length)];
  }

  #count(state: Check['state'], lane?: Lane): number {
    return this.#checks.filter(
      (check) => check.state === state && (lane === undefined || check.lane === lane),
    ).length;
  }

  #require(holds: boolean, violation: string): void {
    if (!holds) this.violation ??= violation;
  }
}

/** Deadlines that the trial can end. */
class FollowedDeadlines extends Deadlines {
  readonly #started: Deadline[];

  constructor(started: Deadline[]) {
    super();
    this.#started = started;
  }

  override start(durationMs: number): Deadline {
    const deadline = super.start(durationMs);
    this.#started.push(deadline);
    return deadline;
  }
}

function quarterOf(size: number): number {
  return size < 2 ? 0 : Math.max(1, Math.floor(size / 4));
}

function outcomeOf(verdict: Verdict<object>): Outcome {
  if (verdict.kind !== 'unavailable') return verdict.kind;
  if (verdict.reason === 'busy') return 'busy';
  return verdict.reason === 'timeout' ? 'timeout' : 'unavailable';
}
