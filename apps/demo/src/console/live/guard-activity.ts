import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { CallMessage, CheckMessage, DenialMessage } from 'nestjs-session-auth/diagnostics';
import { type CheckKind, type DenialCode, type LiveReport } from '../messages.js';
import { kindOf } from './check-kind.js';

const CHECKS = 'nestjs-session-auth:check';
const DENIALS = 'nestjs-session-auth:denial';
const CALLS = tracingChannel<'nestjs-session-auth:call', CallMessage>('nestjs-session-auth:call');

/** Counts the messages of the library's diagnostics channels. */
@Injectable()
export class GuardActivity implements OnModuleInit, OnModuleDestroy {
  readonly #calls = new Set<CallMessage>();
  #totals = zeroTotals();
  #callsBefore = 0;
  #checkCalls = 0;

  onModuleInit(): void {
    subscribe(CHECKS, this.#onCheck);
    subscribe(DENIALS, this.#onDenial);
    CALLS.subscribe(this.#onCalls);
  }

  onModuleDestroy(): void {
    unsubscribe(CHECKS, this.#onCheck);
    unsubscribe(DENIALS, this.#onDenial);
    CALLS.unsubscribe(this.#onCalls);
  }

  /** Calls to the session service since the demo started. A reset does not change it. */
  get calls(): number {
    return this.#callsBefore + this.#totals.calls;
  }

  /** Calls since the demo started that check a session. A reset does not change it. */
  get checkCalls(): number {
    return this.#checkCalls;
  }

  /** Returns the totals, and the calls in flight. */
  read(): Pick<LiveReport, 'totals' | 'inFlight'> {
    return { totals: structuredClone(this.#totals), inFlight: this.#calls.size };
  }

  /** Sets all counts to zero. */
  reset(): void {
    this.#callsBefore = this.calls;
    this.#totals = zeroTotals();
  }

  readonly #onCheck = (message: unknown): void => {
    this.#totals.checks[kindOf(message as CheckMessage)] += 1;
  };

  readonly #onDenial = (message: unknown): void => {
    const { code } = message as DenialMessage;
    // Not counted: the backend reads no cookie, its rules do not fail, and the check of a session has no part
    // in a sign-in.
    if (code in this.#totals.denials) this.#totals.denials[code as DenialCode] += 1;
  };

  readonly #onCalls = {
    start: (call: CallMessage): void => {
      this.#totals.calls += 1;
      if (call.operation === 'user_details') this.#checkCalls += 1;
      this.#calls.add(call);
    },
    end: (): void => undefined,
    asyncStart: (): void => undefined,
    asyncEnd: (call: CallMessage): void => void this.#calls.delete(call),
    error: (): void => undefined,
  };
}

function zeroTotals() {
  const checks: Record<CheckKind, number> = {
    cached: 0,
    joined: 0,
    asked: 0,
    denied: 0,
    turnedBack: 0,
    unavailable: 0,
  };
  return {
    checks,
    denials: { SESSION_REQUIRED: 0, SESSION_REJECTED: 0, ACCESS_DENIED: 0, SESSION_SERVICE_UNAVAILABLE: 0 },
    calls: 0,
  };
}
