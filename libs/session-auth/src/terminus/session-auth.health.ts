import 'reflect-metadata';
import { Inject, Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import type { Verdict } from '../contract/outcome.js';
import { SessionAuthEvents } from '../module/session-auth-events.js';
import { SessionAuthService } from '../module/service/session-auth.service.js';

/** How a health check is made. */
export interface SessionAuthHealthOptions {
  /**
   * Asks the service now, with a token of no session: a refusal is a good answer. Checks at the same time share the call, and a flood of
   * strangers does not keep it waiting. Without a probe the check costs no call: it reports what the requests of users have shown. @default false
   */
  readonly probe?: boolean;
}

const DEFAULT_KEY = 'session-service';
const PROBE = { token: 'health-probe', authIv: undefined };

/**
 * Health of the session service, for `@nestjs/terminus`: down while the circuit breaker of known sessions is open, and, where it is probed,
 * when it does not answer. What strangers provoke does not make it down, nor does a service that refuses every token: that is `degraded`, and up.
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
   * Never rejects: what the check finds is its result, `up` or `down` under `key`, with `state`, `breakers`, `misconfigurationSuspected` and `revocationBus` of
   * `SessionAuthEvents.serviceStatus`, and `unreachable`, the reason, where a probe failed.
   */
  async isHealthy<Key extends string = typeof DEFAULT_KEY>(
    key: Key = DEFAULT_KEY as Key,
    { probe = false }: SessionAuthHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const check = this.health.check(key);
    const unreachable = probe ? await this.#sharedProbe() : undefined;
    const { ...status } = this.events.serviceStatus;
    if (unreachable !== undefined) return check.down({ ...status, unreachable });
    return status.state === 'down' ? check.down(status) : check.up(status);
  }

  /** Why the service did not answer, if it did not. */
  async #sharedProbe(): Promise<string | undefined> {
    this.#probe ??= this.sessions.probe(PROBE);
    const verdict = await this.#probe;
    this.#probe = undefined;
    return verdict.kind === 'unavailable' ? verdict.reason : undefined;
  }
}
