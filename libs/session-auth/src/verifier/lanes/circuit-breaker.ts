import type { TokenKey } from '../../contract/session-identity.js';
import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../../contract/outcome.js';
import { type BreakerSettings, type BreakerState, type CallResult, Circuit, type CircuitState, PROBE_MS } from './circuit.js';

/** Different tokens that must fail before a breaker opens, or `minimumCalls` if that is less. */
const FAILING_TOKENS = 5;

/**
 * Stops the calls of a lane while the service fails. It opens when, within `windowMs`, at least `minimumCalls` calls were made, the part
 * `failureRatio` of them failed, and failures of five different tokens are among them (`minimumCalls` if that is less). So one account,
 * or one caller, whose calls always fail opens it for nobody else, and does not keep it open: for a second, a token that failed leaves the probe to others.
 */
export class CircuitBreaker {
  readonly #circuit: Circuit;
  readonly #failing: FailingTokens;

  /** `changed` is called with each new state. */
  constructor(settings: BreakerSettings, now?: () => number, changed?: (state: BreakerState) => void) {
    const { windowMs, minimumCalls } = settings;
    const tokens = Math.min(FAILING_TOKENS, minimumCalls);
    this.#failing = new FailingTokens({ tokens, failuresEach: Math.ceil(minimumCalls / tokens), windowMs });
    this.#circuit = new Circuit(settings, now, changed);
  }

  /** The answer to a caller that may not make a call now; `undefined` when it may. */
  denial(tokenKey: TokenKey): Unavailable | undefined {
    if (this.#circuit.isClosed) return undefined;
    const pauseLeftMs = this.#circuit.pauseLeftMs() + (this.#failing.has(tokenKey) ? PROBE_MS : 0);
    return pauseLeftMs > 0 ? unavailable('circuit_open', pauseLeftMs / 1_000) : undefined;
  }

  /** Lets a call begin, for which there must be no {@link denial}, and returns the state for {@link record}. */
  begin(): CircuitState {
    return this.#circuit.begin();
  }

  /** Takes in what a call with this token showed. */
  record(began: CircuitState, result: CallResult, tokenKey: TokenKey, nowMs: number): void {
    if (result !== 'failure') this.#circuit.record(began, result, nowMs);
    else {
      const counts = this.#failing.add(tokenKey, nowMs) || !this.#circuit.isClosed;
      this.#circuit.record(began, counts ? result : 'neither', nowMs, this.#failing.areEnough);
    }
  }

  /** Opens, if it is closed: the other lane has shown that the service fails. */
  trip(): void {
    this.#circuit.trip();
  }

  /** Closes, if {@link trip} opened it and no call was made since: the other lane has shown that the service works again. */
  undoTrip(): void {
    this.#circuit.undoTrip();
  }
}

/** What is kept of a token whose calls fail. */
interface FailingToken {
  /** When the failures that are counted began. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly failures: number;
}

/** Bounds of {@link FailingTokens}. */
export interface FailingTokenLimits {
  /** Tokens that must fail within the window. */
  readonly tokens: number;
  /** Failures of one token that count within a window. */
  readonly failuresEach: number;
  readonly windowMs: number;
}

/** Tokens that are kept: more than one caller has, or the eviction of one would let its failures count again. */
const MAX_TOKENS = 256;

/**
 * The tokens whose calls failed within the window, by digest. One of them counts for no more than its part, so that one account whose details
 * always fail proves nothing about the service, however often it asks, and does not when the breaker has closed again either.
 */
export class FailingTokens {
  readonly #limits: FailingTokenLimits;
  /** The one that failed last is the last. */
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

  /** Whether enough different tokens failed within the window that ended with the last failure. */
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
 * Returns what a call shows about the service. A refusal is a success: the service answered. Any other status, 429 and a malformed 200 concern
 * this request alone; a full queue, an open breaker, a failing `apiKey` function and a shutdown are ours. A connection that the service had
 * closed, and a call that timed out without its full time, show nothing either.
 */
export function evidenceOf(verdict: Verdict<unknown>, hadFullTime: boolean): CallResult {
  if (verdict.kind !== 'unavailable') return 'success';
  if (verdict.staleConnection || !FAILURES.has(verdict.reason)) return 'neither';
  return verdict.reason === 'timeout' && !hadFullTime ? 'neither' : 'failure';
}
