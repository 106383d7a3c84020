import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { CallMessage, CheckMessage, DenialMessage } from 'nestjs-session-auth/diagnostics';
import { type CheckKind, type LiveReport } from '../messages.js';
import { CheckTally } from './check-tally.js';

const CHECKS = 'nestjs-session-auth:check';
const DENIALS = 'nestjs-session-auth:denial';
const CALLS = tracingChannel<'nestjs-session-auth:call', CallMessage>('nestjs-session-auth:call');

/** Listens on the library's diagnostics channels, and counts. */
@Injectable()
export class GuardActivity implements OnModuleInit, OnModuleDestroy {
  readonly #calls = new Set<CallMessage>();
  #latest = new CheckTally();
  #totals = nothingYet();
  #callsBefore = 0;

  onModuleInit(): void {
    subscribe(CHECKS, this.#hearCheck);
    subscribe(DENIALS, this.#hearDenial);
    CALLS.subscribe(this.#hearCalls);
  }

  onModuleDestroy(): void {
    unsubscribe(CHECKS, this.#hearCheck);
    unsubscribe(DENIALS, this.#hearDenial);
    CALLS.unsubscribe(this.#hearCalls);
  }

  /** Calls to the session service since the start: whoever counts a span of them is not misled by a new count. */
  get calls(): number {
    return this.#callsBefore + this.#totals.calls;
  }

  /** What there was since it was asked before, and how it stands. */
  take(): Pick<LiveReport, 'checks' | 'waits' | 'totals' | 'inFlight'> {
    const { checks } = this.#latest;
    const waits = this.#latest.summarize();
    this.#latest = new CheckTally();
    for (const [kind, count] of Object.entries(checks) as [CheckKind, number][]) this.#totals.checks[kind] += count;
    return { checks, waits, totals: structuredClone(this.#totals), inFlight: this.#calls.size };
  }

  /** Counts anew. */
  reset(): void {
    this.#callsBefore = this.calls;
    this.#latest = new CheckTally();
    this.#totals = nothingYet();
  }

  readonly #hearCheck = (message: unknown): void => this.#latest.add(message as CheckMessage);

  readonly #hearDenial = (message: unknown): void => {
    this.#totals.denials[(message as DenialMessage).code] += 1;
  };

  readonly #hearCalls = {
    start: (call: CallMessage): void => {
      this.#totals.calls += 1;
      this.#calls.add(call);
    },
    end: (): void => undefined,
    asyncStart: (): void => undefined,
    asyncEnd: (call: CallMessage): void => void this.#calls.delete(call),
    error: (): void => undefined,
  };
}

function nothingYet() {
  return {
    checks: new CheckTally().checks,
    denials: { SESSION_REQUIRED: 0, SESSION_REJECTED: 0, ACCESS_DENIED: 0, SESSION_SERVICE_UNAVAILABLE: 0 },
    calls: 0,
  };
}
