import 'reflect-metadata';
import { Inject, Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import type { Verdict } from '../contract/outcome.js';
import { SessionAuthEvents } from '../module/events/session-auth-events.js';
import { SessionAuthService } from '../module/service/session-auth.service.js';

/** Options of a health check. */
export interface SessionAuthHealthOptions {
  /**
   * Calls the service with a token that has no session. A refusal counts as healthy. Concurrent probes share
   * one call, which a flood of strangers does not delay. `false` is passive: the check reports the outcome of
   * recent requests, and makes no call of its own. @default false
   */
  readonly probe?: boolean;
}

const DEFAULT_KEY = 'session-service';
const PROBE = { token: 'health-probe', authIv: undefined };

/**
 * Health indicator of the session service for `@nestjs/terminus`. Down while the circuit breaker of known
 * sessions is open, if their last three checks failed, or if a probe fails. If only calls of strangers fail,
 * or the service refuses every token, `state` is `degraded`, and the result is up.
 */
@Injectable()
export class SessionAuthHealthIndicator {
  #probe: Promise<Verdict<unknown>> | undefined;

  constructor(
    @Inject(HealthIndicatorService) private readonly health: HealthIndicatorService,
    @Inject(SessionAuthEvents) private readonly events: SessionAuthEvents,
    @Inject(SessionAuthService) private readonly sessions: SessionAuthService,
  ) {}

  /**
   * Never rejects. Resolves with `up` or `down` for `key`, with `state`, `breakers`,
   * `misconfigurationSuspected`, `revocationBus`, `failedChecks` and `causes` of
   * `SessionAuthEvents.serviceStatus`. If a probe failed, `state` is `down`, and `unreachable` is the reason.
   */
  async isHealthy<Key extends string = typeof DEFAULT_KEY>(
    key: Key = DEFAULT_KEY as Key,
    { probe = false }: SessionAuthHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const check = this.health.check(key);
    const unreachable = probe ? await this.#sharedProbe() : undefined;
    const { ...status } = this.events.serviceStatus;
    if (unreachable !== undefined) return check.down({ ...status, state: 'down', unreachable });
    return status.state === 'down' ? check.down(status) : check.up(status);
  }

  /** Resolves with the reason why the service did not answer; `undefined` if it did. */
  async #sharedProbe(): Promise<string | undefined> {
    this.#probe ??= this.sessions.callAsKnown(PROBE);
    const verdict = await this.#probe;
    this.#probe = undefined;
    return verdict.kind === 'unavailable' ? verdict.reason : undefined;
  }
}
