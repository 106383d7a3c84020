import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type BreakerState, type ServiceStatus, SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { type Observable, Subject } from 'rxjs';
import { ConsoleParts } from '../console-parts.js';
import { type LiveReport, REPORTS_KEPT, REPORTS_PER_SECOND } from '../messages.js';
import { GuardActivity } from './guard-activity.js';

/** Returns the state that the page shows: that of known sessions, or of strangers if the first is closed. */
function breakerOf({ known, strangers }: ServiceStatus['breakers']): BreakerState {
  return known === 'closed' ? strangers : known;
}

/** Emits a report twice a second, and keeps the reports of the last minute. */
@Injectable()
export class LiveFeed implements OnModuleInit, OnModuleDestroy {
  readonly #reports = new Subject<LiveReport>();
  #history: readonly LiveReport[] = [];
  #number = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly parts: ConsoleParts,
    private readonly activity: GuardActivity,
  ) {}

  onModuleInit(): void {
    this.#timer = setInterval(() => this.#report(), 1_000 / REPORTS_PER_SECOND).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
    this.#reports.complete();
  }

  /** Emits each new report. */
  get reports(): Observable<LiveReport> {
    return this.#reports;
  }

  /** The reports of the last minute, oldest first. */
  get history(): readonly LiveReport[] {
    return this.#history;
  }

  #report(): void {
    const { backend, serviceControls } = this.parts;
    const report: LiveReport = {
      number: (this.#number += 1),
      at: Date.now(),
      ...this.activity.take(),
      breaker: breakerOf(backend.app.get(SessionAuthEvents).serviceStatus.breakers),
      cached: backend.app.get(SessionAuthService).countCached(),
      cache: backend.settings,
      ...(serviceControls && { fault: serviceControls.fault }),
    };
    this.#history = [...this.#history.slice(1 - REPORTS_KEPT), report];
    this.#reports.next(report);
  }
}
