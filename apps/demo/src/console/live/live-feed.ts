import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { type Observable, Subject } from 'rxjs';
import { ConsoleParts } from '../console-parts.js';
import { type LiveReport, type Marks, REPORTS_KEPT, REPORTS_PER_SECOND } from '../messages.js';
import { SceneRuns } from '../scenes/scene-runs.js';
import { GuardActivity } from './guard-activity.js';

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
    private readonly scenes: SceneRuns,
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

  /** Emits the events of requests. */
  get marks(): Observable<Marks> {
    return this.parts.tracer.marks.batches;
  }

  /** The reports of the last minute, oldest first. */
  get history(): readonly LiveReport[] {
    return this.#history;
  }

  #report(): void {
    const { backend, serviceControls } = this.parts;
    const scene = this.scenes.running;
    const report: LiveReport = {
      number: (this.#number += 1),
      at: Date.now(),
      ...this.activity.read(),
      breakers: backend.app.get(SessionAuthEvents).serviceStatus.breakers,
      cached: backend.app.get(SessionAuthService).countCached(),
      cache: backend.settings,
      ...(scene !== undefined && { scene }),
      ...(serviceControls && { fault: serviceControls.fault }),
    };
    this.#history = [...this.#history.slice(1 - REPORTS_KEPT), report];
    this.#reports.next(report);
  }
}
