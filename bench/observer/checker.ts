import { overlap, type Span } from './clock.js';
import { Health } from './health.js';
import type { End, Journal, OpenStream, Request } from './journal.js';
import { CACHE, HANG_MS, PROPAGATION_MS, TIMEOUT_MS, WHILE_OPEN } from './settings.js';
import { Truth } from './truth.js';

/** Categories of requests after a revocation, by the instance that received them. */
export const CATEGORIES = {
  own: 'on the instance that was called, after the call settled',
  connected: 'on another one, both connected with a healthy Redis',
  disconnected: 'on another one, with a fault of Redis or of the connection to it',
  silent: 'anywhere, ended at the service alone',
} as const;
export type Category = keyof typeof CATEGORIES;

/** Statistics of the requests that test a bound. */
export interface CategoryFigures {
  /**
   * Requests for a revoked session, sent after the revocation (own, connected, disconnected: after the
   * revoking call settled).
   */
  requests: number;
  /** Of these, accepted, by an answer of the service from before the revocation. */
  accepted: number;
  /** Longest time from the revocation to the sending of such a request. */
  latestMs: number;
}

/** A violation of a bound. */
export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

/** Result of a check of the journal. */
export interface Findings {
  readonly categories: Readonly<Record<Category, CategoryFigures>>;
  readonly violations: readonly Violation[];
  /** Accepted requests that were compared with every bound. */
  readonly acceptances: number;
  /**
   * Bounds that they were compared with: one for the lifetime, and one for each revocation that the instance
   * must respect.
   */
  readonly bounds: number;
  /** Requests beyond 250 ms, late by no more than their processes were without a processor. */
  readonly lateByStalls: number;
  readonly latestByStallsMs: number;
  /** Number of 503 because the instance or the service had no processor for much of the check's time. */
  readonly unavailableByStalls: number;
  /** Pairs of a revocation and another instance, by whether both were connected throughout. */
  readonly pairs: { readonly healthy: number; readonly faulty: number };
}

/** A revocation, and its effect on each instance. */
interface BindingEnd extends End {
  /** Earlier answers of the service no longer count. */
  readonly sinceMs: number;
  /** For each instance: whether it must receive the revocation within {@link PROPAGATION_MS}. */
  readonly isConnected: readonly boolean[];
}

const LIFETIME_MS = CACHE.ttlMs + TIMEOUT_MS;
/** A request may be denied for as long as a refusal is cached, by an answer that was in flight. */
const REFUSAL_MS = CACHE.negativeTtlMs + TIMEOUT_MS;

/** A check that loses this many milliseconds to the machine may time out. */
const MAX_LOST_MS = TIMEOUT_MS / 4;

/** Compares every request with the documented bounds, only by records from outside the library. */
export class Checker {
  readonly #journal: Journal;
  readonly #health: Health;
  readonly #truth: Truth;
  readonly #ends: readonly BindingEnd[];
  readonly #violations: Violation[] = [];
  readonly #categories: Record<Category, CategoryFigures> = {
    own: none(),
    connected: none(),
    disconnected: none(),
    silent: none(),
  };
  readonly #counts = {
    acceptances: 0,
    bounds: 0,
    lateByStalls: 0,
    latestByStallsMs: 0,
    unavailableByStalls: 0,
  };

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#health = new Health(journal);
    this.#truth = new Truth(journal);
    this.#ends = journal.ends.map((end) => this.#bind(end));
  }

  check(): Findings {
    for (const request of this.#journal.requests) {
      const user = this.#truth.userOf(request.token);
      const ends = this.#ends.filter(
        (end) => end.settledAtMs < request.sentAtMs && concerns(end, request.token, user),
      );
      this.#checkAvailability(request);
      if (request.status === 200) this.#checkAcceptance(request, ends);
      this.#count(request, ends);
    }
    for (const stream of this.#journal.streams) this.#checkStream(stream);
    const others = this.#ends.flatMap(({ isConnected, instance }) =>
      isConnected.filter((_connected, index) => index !== instance),
    );
    const healthy = others.filter(Boolean).length;
    const pairs = { healthy, faulty: others.length - healthy };
    return { categories: this.#categories, violations: this.#violations, ...this.#counts, pairs };
  }

  /**
   * A sign-out ends the session at the service during the call. Other revocations follow an earlier end, or
   * require a new check.
   */
  #bind(end: End): BindingEnd {
    const { kind, token = '', instance, calledAtMs, settledAtMs } = end;
    const endedAtMs = kind === 'signOut' ? this.#truth.endWithin(token, calledAtMs, settledAtMs) : undefined;
    const window: Span = { fromMs: calledAtMs, toMs: settledAtMs + PROPAGATION_MS };
    const isCallerGood = this.#health.isGood(instance, window);
    const isConnected = this.#journal.links.map(
      (_events, other) => other !== instance && isCallerGood && this.#health.isGood(other, window),
    );
    return { ...end, sinceMs: endedAtMs ?? calledAtMs, isConnected };
  }

  /**
   * The last part of a stream is like a request that was accepted when the instance wrote it. A stream ends
   * only with its session, or when the machine kept the service from answering.
   */
  #checkStream({ token, instance, openedAtMs, lastPartAtMs, overAtMs, user, endedWith }: OpenStream): void {
    const all = this.#ends.filter((end) => concerns(end, token, this.#truth.userOf(token)));
    const part = { sentAtMs: lastPartAtMs, answeredAtMs: lastPartAtMs, instance, token, status: 200, user };
    const lostMs = this.#lostMs([`instance ${instance}`, 'service'], { fromMs: openedAtMs, toMs: overAtMs });
    this.#checkAcceptance(
      part,
      // After `forget`, the session is checked by a call, and ends with its answer.
      all.filter(
        ({ kind, settledAtMs }) => settledAtMs + (kind === 'forget' ? TIMEOUT_MS + lostMs : 0) < lastPartAtMs,
      ),
      LIFETIME_MS + WHILE_OPEN.recheckMs + lostMs,
    );
    if (endedWith === 0 || endedWith === 503) return;
    const mayEnd = all.some(
      ({ calledAtMs }) => calledAtMs < overAtMs && calledAtMs > openedAtMs - REFUSAL_MS,
    );
    if (!mayEnd && this.#truth.wasValid(token, openedAtMs - REFUSAL_MS, overAtMs))
      this.#violate('a stream of a valid session that ended', part);
  }

  /** Only Redis fails, never the service: no instance may be worse off than without a store. */
  #checkAvailability(request: Request): void {
    const { status, instance, token, sentAtMs, answeredAtMs } = request;
    const span = { fromMs: sentAtMs, toMs: answeredAtMs };
    if (this.#health.isFrozen(instance, span)) return;
    if (status === -1) this.#violate(`no answer in ${HANG_MS} ms`, request);
    else if (status === 503 && this.#lostMs([`instance ${instance}`, 'service'], span) > MAX_LOST_MS)
      this.#counts.unavailableByStalls += 1;
    else if (status !== 200 && status !== 401)
      this.#violate(`status ${status} while the service is fine`, request);
    else if (status === 401 && this.#truth.wasValid(token, sentAtMs - REFUSAL_MS, answeredAtMs))
      this.#violate('a valid session is denied', request);
  }

  #checkAcceptance(request: Request, ends: readonly BindingEnd[], lifetimeMs = LIFETIME_MS): void {
    const { token, user = '', instance, sentAtMs, answeredAtMs } = request;
    this.#counts.acceptances += 1;
    const confirmedMs = this.#truth.lastConfirmation(token, user, answeredAtMs);
    if (confirmedMs === -Infinity) {
      this.#violate('another user than that of the session', request);
      return;
    }
    this.#counts.bounds += 1;
    if (confirmedMs < sentAtMs - lifetimeMs)
      this.#violate(`later than its lifetime (${lifetimeMs.toFixed(0)} ms)`, request, { confirmedMs });
    for (const end of ends) {
      const isOwn = end.instance === instance;
      const isBound =
        isOwn || (end.isConnected[instance] === true && sentAtMs > end.settledAtMs + PROPAGATION_MS);
      if (!isBound) continue;
      this.#counts.bounds += 1;
      if (confirmedMs >= end.sinceMs) continue;
      if (isOwn)
        this.#violate(`on the instance whose ${end.kind} has settled`, request, { confirmedMs, end });
      else this.#late(request, end, confirmedMs);
    }
  }

  /**
   * A process without a processor receives nothing. Delays by the machine are not faults of the library, and
   * are counted separately.
   */
  #late(request: Request, end: BindingEnd, confirmedMs: number): void {
    const lateMs = request.sentAtMs - end.settledAtMs;
    const span = { fromMs: end.calledAtMs, toMs: request.answeredAtMs };
    const lostMs = this.#lostMs(
      [`instance ${end.instance}`, `instance ${request.instance}`, 'network'],
      span,
    );
    if (lateMs <= PROPAGATION_MS + lostMs) {
      this.#counts.lateByStalls += 1;
      this.#counts.latestByStallsMs = Math.max(this.#counts.latestByStallsMs, lateMs);
    } else {
      this.#violate(
        `on another instance, ${PROPAGATION_MS} ms after ${end.kind} settled, with a healthy Redis`,
        request,
        {
          confirmedMs,
          end,
        },
      );
    }
  }

  /** Returns the milliseconds of a span in which processes had no processor. */
  #lostMs(processes: readonly string[], span: Span): number {
    return processes
      .flatMap((process) => this.#journal.stalls.get(process)?.filter((stall) => overlap(stall, span)) ?? [])
      .reduce((sum, { fromMs, toMs }) => sum + Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs), 0);
  }

  /** Records the outcome of a request for a revoked session. */
  #count(request: Request, ends: readonly BindingEnd[]): void {
    const { token, instance, sentAtMs, answeredAtMs, status, user = '' } = request;
    const endedAtMs = this.#truth.endedAt(token, sentAtMs);
    if (endedAtMs === undefined || this.#truth.endedAt(token, answeredAtMs) !== endedAtMs) return;
    const since = ends.filter(({ sinceMs }) => sinceMs >= endedAtMs);
    const end =
      since.find((one) => one.instance === instance) ??
      since.find(({ isConnected }) => isConnected[instance]) ??
      since[0];
    const figures = this.#categories[categoryOf(instance, end)];
    figures.requests += 1;
    if (status !== 200 || this.#truth.lastConfirmation(token, user, answeredAtMs) >= endedAtMs) return;
    figures.accepted += 1;
    figures.latestMs = Math.max(figures.latestMs, sentAtMs - (end?.settledAtMs ?? endedAtMs));
  }

  #violate(
    rule: string,
    request: Request,
    { confirmedMs, end }: { confirmedMs?: number; end?: BindingEnd } = {},
  ): void {
    const { sentAtMs } = request;
    const ago = (atMs: number | undefined): string =>
      atMs === undefined ? 'never' : `${(sentAtMs - atMs).toFixed(1)} ms before`;
    const faults = this.#journal.faults
      .filter(({ fromMs, toMs }) => fromMs < request.answeredAtMs && toMs > sentAtMs - LIFETIME_MS)
      .map(
        ({ name, fromMs, toMs, instances }) =>
          `${name} of ${instances.join(' ')} from ${ago(fromMs)} to ${ago(toMs)}`,
      );
    const { calledAtMs, settledAtMs, kind, instance, outcome } = end ?? {};
    const of = end
      ? ` ${kind} on ${instance} (${outcome}) called ${ago(calledAtMs)}, settled ${ago(settledAtMs)}.`
      : '';
    const ended = ago(this.#truth.endedAt(request.token, sentAtMs));
    const took = (request.answeredAtMs - sentAtMs).toFixed(1);
    const lostMs = this.#lostMs([`instance ${request.instance}`, 'service'], {
      fromMs: sentAtMs,
      toMs: request.answeredAtMs,
    }).toFixed(0);
    const detail =
      `instance ${request.instance}, ${request.token}, status ${request.status}, took ${took} ms, ${lostMs} ms without processor. Confirmed ${ago(confirmedMs)}, ` +
      `ended ${ended}.${of} Faults: ${faults.join('; ') || 'none'}.`;
    this.#violations.push({ rule, detail });
  }
}

function concerns(end: End, token: string, user: string | undefined): boolean {
  if (end.kind === 'forgetAll') return true;
  return end.kind === 'forgetUser' ? end.user === user : end.token === token;
}

function categoryOf(instance: number, end: BindingEnd | undefined): Category {
  if (!end) return 'silent';
  if (end.instance === instance) return 'own';
  return end.isConnected[instance] ? 'connected' : 'disconnected';
}

function none(): CategoryFigures {
  return { requests: 0, accepted: 0, latestMs: 0 };
}
