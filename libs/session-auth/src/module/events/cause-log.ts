import { Logger } from '@nestjs/common';
import { isTlsCode } from '../../client/reply.js';
import type { ReplyReports } from '../../client/user-details-verdict.js';
import {
  type ActiveCause,
  AFFECTED,
  type CauseName,
  causeOf,
  type CauseReports,
} from '../../contract/causes.js';
import { type CallMessage, CAUSE_CHANGES } from '../../contract/diagnostics.js';
import type { UnavailableReason } from '../../contract/outcome.js';
import type { CallReports } from '../../verifier/service-status.js';
import { detailsOf } from './failed-call.js';

/** Active subjects of one cause. Those of records may be data: they must not keep other causes out. */
const MAX_SUBJECTS = 500;
/**
 * A cause is over if there is evidence of its end, and it did not occur for this time: a service that fails
 * and recovers in turns is one cause, and writes at most two lines in this time.
 */
const RECOVERY_MS = 60_000;
/** The same for a cause of whose end there is no evidence. */
const QUIET_MS = 600_000;
/** Failures of calls, in a row or of several callers, after which a cause degrades the state. */
const DEGRADING_FAILURES = 3;

const CAUSE_OF: Readonly<Partial<Record<UnavailableReason, CauseName>>> = {
  unreachable: 'service unreachable',
  timeout: 'service too slow',
  server_error: 'service failing',
  rate_limited: 'throttled',
  busy: 'too many calls',
  api_key: 'no key',
  malformed: 'unusable reply',
  unexpected_status: 'unexpected reply',
};
/** Reasons whose cause was reported with the reply. */
const BY_REPLY: ReadonlySet<UnavailableReason> = new Set(['malformed', 'unexpected_status']);

/** A cause that is not over. Its times are those of the monotonic clock, but for `sinceMs`. */
interface Active {
  readonly seen: { -readonly [Member in keyof ActiveCause]: ActiveCause[Member] };
  readonly startedMs: number;
  lastMs: number;
  /** Time of the first evidence after the last occurrence. */
  recoveredMs: number;
  /** Failures since the last evidence. */
  inARow: number;
  /** Two of the users whose calls failed. */
  readonly callers: Set<unknown>;
}

/**
 * Logs the causes of denials that are not the caller's own: one line when a cause begins, one when it is
 * over, and none in between.
 */
export class Causes implements ReplyReports, CauseReports, CallReports {
  readonly #logger = new Logger('SessionAuth');
  readonly #active = new Map<string, Active>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #unlisted = new Set<string>();
  /** Status or code of the last attempt that failed for a reason. The failure of its call follows. */
  readonly #met = new Map<UnavailableReason, string>();
  onChange: (active: readonly ActiveCause[], areDegrading: boolean) => void = () => undefined;

  get areNone(): boolean {
    return this.#active.size === 0;
  }

  occurred(cause: CauseName, subject = '', ...details: string[]): void {
    const key = `${cause} ${subject}`;
    const active = this.#active.get(key);
    if (active) {
      this.#again(active);
      return;
    }
    if (this.#isClosed || this.#countOf(cause) >= MAX_SUBJECTS) return;
    this.#begin(key, cause, subject);
    const texts = details.length > 0 ? details : [subject];
    const { text, level = 'warn' } = causeOf(cause);
    this.#write(level, `${cause}: ${text.replaceAll('%', () => texts.shift() ?? '')}`);
  }

  recovered(cause: CauseName, subject = ''): void {
    const active = this.#active.get(`${cause} ${subject}`);
    if (active) this.#recover(active);
  }

  attemptFailed(reason: UnavailableReason, met: string): void {
    this.#met.set(reason, met);
  }

  callFailed(operation: CallMessage['operation'], reason: UnavailableReason, caller?: unknown): void {
    const affected = AFFECTED[operation];
    const met = this.#met.get(reason) ?? '';
    this.#met.delete(reason);
    if (reason === 'circuit_open') this.#countAll(affected);
    if (reason === 'unreachable' && this.#active.has('no HTTP client ')) return;
    const isTls = reason === 'unreachable' && isTlsCode(met);
    const cause = isTls ? 'TLS failure' : CAUSE_OF[reason];
    if (cause === undefined) return;
    const subject = isTls ? '' : affected;
    if (!BY_REPLY.has(reason)) this.occurred(cause, subject, ...detailsOf(cause, operation, met));
    const callers = this.#active.get(`${cause} ${subject}`)?.callers;
    if (callers && caller !== undefined && callers.size < 2) callers.add(caller);
  }

  callAnswered(operation: CallMessage['operation'], isAccepted: boolean): void {
    for (const active of this.#active.values()) {
      const { cause, subject } = active.seen;
      const { ends } = causeOf(cause);
      const isEvidence = ends === 'answer' || (isAccepted && ends === 'acceptance');
      if (isEvidence && (subject === AFFECTED[operation] || subject === '')) this.#recover(active);
    }
  }

  unlistedStatus(operation: CallMessage['operation'], status: number): void {
    const key = `${operation} ${status}`;
    if (this.#unlisted.has(key)) return;
    this.#unlisted.add(key);
    const meaning = status === 422 ? 400 : 403;
    const remedy =
      operation === 'sign_in' && status === 422
        ? " If it refuses a wrong password, set statusMap: { signIn: { 422: 'rejected' } }."
        : '';
    this.note(
      'unlisted status',
      `${operation} answered ${status}, which the interface does not list. It counts as ${meaning}; the line is written once.${remedy}`,
    );
  }

  note(kind: string, text: string): void {
    this.#write('warn', `${kind}: ${text}`);
  }

  /** A logger of the application may throw: in a check, that would be a 500, and in a timer end the process. */
  #write(level: 'log' | 'warn' | 'error', line: string): void {
    try {
      this.#logger[level](line);
    } catch {
      // There is no other place to report it.
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #begin(key: string, cause: CauseName, subject: string): void {
    const nowMs = performance.now();
    this.#active.set(key, {
      seen: { cause, subject, sinceMs: Date.now(), failures: 1, isRecovering: false },
      startedMs: nowMs,
      lastMs: nowMs,
      recoveredMs: 0,
      inARow: 1,
      callers: new Set(),
    });
    this.#settle();
    this.#changed(cause);
  }

  /** Counts a call that was not made because of an outage. */
  #countAll(subject: string): void {
    for (const { seen } of this.#active.values())
      if (causeOf(seen.cause).ends === 'answer' && seen.subject === subject) seen.failures += 1;
  }

  #recover(active: Active): void {
    if (!active.seen.isRecovering) {
      active.seen.isRecovering = true;
      active.inARow = 0;
      active.recoveredMs = performance.now();
      this.#changed();
    }
    this.#settle();
  }

  #again(active: Active): void {
    active.seen.failures += 1;
    active.inARow += 1;
    active.lastMs = performance.now();
    active.seen.isRecovering = false;
    if (active.inARow <= DEGRADING_FAILURES || active.seen.failures <= DEGRADING_FAILURES) this.#changed();
  }

  #settle(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const nowMs = performance.now();
    let nextMs = Infinity;
    for (const [key, active] of this.#active) {
      const dueMs = dueOf(active);
      if (dueMs <= nowMs) this.#end(key, active);
      else nextMs = Math.min(nextMs, dueMs);
    }
    if (nextMs < Infinity) this.#timer = setTimeout(() => this.#settle(), nextMs - nowMs).unref();
  }

  #end(key: string, { seen, startedMs, lastMs, recoveredMs }: Active): void {
    const { cause, subject, failures } = seen;
    this.#active.delete(key);
    const seconds = Math.ceil((Math.max(lastMs, recoveredMs) - startedMs) / 1_000);
    const what = subject === '' ? '' : ` (${subject})`;
    this.#write('log', `${cause}: over after ${seconds} s, ${failures} failed${what}`);
    this.#changed(cause);
  }

  /** @param cause the one that began or is over */
  #changed(cause?: CauseName): void {
    if (cause && CAUSE_CHANGES.hasSubscribers) CAUSE_CHANGES.publish({ cause, active: this.#countOf(cause) });
    const active = [...this.#active.values()];
    this.onChange(
      active.map(({ seen }) => seen),
      active.some(degrades),
    );
  }

  #countOf(cause: CauseName): number {
    return [...this.#active.values()].filter(({ seen }) => seen.cause === cause).length;
  }
}

/**
 * Failed calls degrade the state if there are some in a row, or of several callers: not one account, or one
 * call, that fails among others.
 */
function degrades({ seen, inARow, callers }: Active): boolean {
  const { isHarmless, ends } = causeOf(seen.cause);
  if (isHarmless) return false;
  if (ends === 'report' || ends === 'quiet') return !seen.isRecovering;
  return inARow >= DEGRADING_FAILURES || (seen.failures >= DEGRADING_FAILURES && callers.size > 1);
}

function dueOf({ seen, lastMs }: Active): number {
  if (causeOf(seen.cause).ends === 'quiet') return lastMs + QUIET_MS;
  return seen.isRecovering ? lastMs + RECOVERY_MS : Infinity;
}
