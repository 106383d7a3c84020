import type { TokenKey } from '../../contract/session-identity.js';
import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../../contract/outcome.js';
import {
  type BreakerSettings,
  type BreakerState,
  type CallResult,
  CircuitBreaker,
  type CircuitState,
  PROBE_MS,
} from './circuit-breaker.js';

/** Number of different tokens whose calls must fail before a breaker opens, or `minimumCalls` if that is less. */
const FAILING_TOKENS = 5;

/**
 * Stops the calls of a lane while the service fails. It opens when, within `windowMs`, at least `minimumCalls` calls were made, at least the
 * part `failureRatio` of them failed, and the failures include five different tokens (`minimumCalls` if that is less). One account or caller
 * whose calls always fail therefore cannot open it. Nor can it keep the breaker open: a token that failed may not
 * probe in the first second after the pause.
 */
export class LaneBreaker {
  readonly #breaker: CircuitBreaker;
  readonly #failing: FailingTokens;

  /** `onChange` is called with each new state. */
  constructor(settings: BreakerSettings, now?: () => number, onChange?: (state: BreakerState) => void) {
    const { windowMs, minimumCalls } = settings;
    const tokens = Math.min(FAILING_TOKENS, minimumCalls);
    this.#failing = new FailingTokens({ tokens, failuresEach: Math.ceil(minimumCalls / tokens), windowMs });
    this.#breaker = new CircuitBreaker(settings, now, onChange);
  }

  /** Returns the denial of a call that may not be made now, or `undefined` if it may. */
  denial(tokenKey: TokenKey): Unavailable | undefined {
    if (this.#breaker.isClosed) return undefined;
    const pauseLeftMs = this.#breaker.pauseLeftMs() + (this.#failing.has(tokenKey) ? PROBE_MS : 0);
    return pauseLeftMs > 0 ? unavailable('circuit_open', pauseLeftMs / 1_000) : undefined;
  }

  /** Begins a call that has no {@link denial}. Returns the state to pass to {@link record}. */
  begin(): CircuitState {
    return this.#breaker.begin();
  }

  /** Records the result of a call with this token. */
  record(began: CircuitState, result: CallResult, tokenKey: TokenKey, nowMs: number): void {
    if (result !== 'failure') this.#breaker.record(began, result, nowMs);
    else {
      const counts = this.#failing.add(tokenKey, nowMs) || !this.#breaker.isClosed;
      this.#breaker.record(began, counts ? result : 'neither', nowMs, this.#failing.areEnough);
    }
  }

  /** Opens the breaker if it is closed, because the breaker of the other lane has opened. */
  trip(): void {
    this.#breaker.trip();
  }

  /** Closes the breaker if {@link trip} opened it and no call was made since, because the breaker of the other lane has closed. */
  undoTrip(): void {
    this.#breaker.undoTrip();
  }
}

/** The recent failures of one token. */
interface FailingToken {
  /** Time of the first counted failure. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly failures: number;
}

/** Bounds of {@link FailingTokens}. */
interface FailingTokenLimits {
  /** Number of different tokens that must fail within the window. */
  readonly tokens: number;
  /** Maximum number of failures of one token that count within a window. */
  readonly failuresEach: number;
  readonly windowMs: number;
}

/** Maximum number of tokens that are kept. More than one caller has, because the failures of an evicted token would count again. */
const MAX_TOKENS = 256;

/**
 * The tokens whose calls failed within the window, by digest. The failures of one token count only up to a limit, so that one account whose
 * details always fail is not evidence against the service, however often it calls, even after the breaker has closed again.
 */
class FailingTokens {
  readonly #limits: FailingTokenLimits;
  /** In order of their last failure, the oldest first. */
  readonly #tokens = new Map<TokenKey, FailingToken>();

  constructor(limits: FailingTokenLimits) {
    this.#limits = limits;
  }

  /** Records a failure, and returns whether it counts. */
  add(tokenKey: TokenKey, nowMs: number): boolean {
    const { failuresEach, windowMs } = this.#limits;
    const before = this.#tokens.get(tokenKey);
    const { sinceMs, failures } = before && nowMs - before.sinceMs < windowMs ? before : { sinceMs: nowMs, failures: 0 };
    this.#tokens.delete(tokenKey);
    this.#tokens.set(tokenKey, { sinceMs, lastMs: nowMs, failures: failures + 1 });
    this.#evict(nowMs);
    return failures < failuresEach;
  }

  /** Whether enough different tokens failed within the window that ends with the last failure. */
  get areEnough(): boolean {
    return this.#tokens.size >= this.#limits.tokens;
  }

  has(tokenKey: TokenKey): boolean {
    return this.#tokens.has(tokenKey);
  }

  #evict(nowMs: number): void {
    for (const [tokenKey, { lastMs }] of this.#tokens) {
      if (this.#tokens.size <= MAX_TOKENS && nowMs - lastMs < this.#limits.windowMs) return;
      this.#tokens.delete(tokenKey);
    }
  }
}

/** Failures of the service: no connection (and a reply that is not HTTP, or whose head is too long), no answer in time, 408 and 5xx. */
const FAILURES: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'timeout', 'server_error']);

/**
 * Returns what a call shows about the service. `success`: it answered, also with a refusal. `failure`: no connection, no answer in time, 408 or
 * 5xx. `neither`: any other status, 429 and a malformed 200, which concern this request alone; a full queue, an open breaker, a failing
 * `apiKey` function and a shutdown, which are local; a connection that the service had closed; a call that timed out without its full time.
 */
export function callResultOf(verdict: Verdict<unknown>, hadFullTime: boolean): CallResult {
  if (verdict.kind !== 'unavailable') return 'success';
  if (verdict.staleConnection || !FAILURES.has(verdict.reason)) return 'neither';
  return verdict.reason === 'timeout' && !hadFullTime ? 'neither' : 'failure';
}
