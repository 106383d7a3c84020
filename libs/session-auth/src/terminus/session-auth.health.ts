import 'reflect-metadata';
import { Inject, Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { isSessionAuthError } from '../contract/errors.js';
import { SessionAuthEvents } from '../module/session-auth-events.js';
import { SessionAuthService } from '../module/session-auth.service.js';

/** How a health check is made. */
export interface SessionAuthHealthOptions {
  /**
   * Asks the service now, with a token that nobody has: a refusal is a good answer. Without it the check costs no call and tells what
   * the requests of users have shown. @default false
   */
  readonly probe?: boolean;
}

const DEFAULT_KEY = 'session-service';
const PROBE_TOKEN = 'health-probe';

/**
 * Health of the session service, for `@nestjs/terminus`: down while its circuit is open, while every token is refused since the start (the
 * key or the URL is wrong), and, where it is probed, when it does not answer.
 */
@Injectable()
export class SessionAuthHealthIndicator {
  constructor(
    @Inject(HealthIndicatorService) private readonly health: HealthIndicatorService,
    @Inject(SessionAuthEvents) private readonly events: SessionAuthEvents,
    @Inject(SessionAuthService) private readonly sessions: SessionAuthService,
  ) {}

  /**
   * Never rejects: what the check finds is its result, `up` or `down` under `key`, with `state`, `breaker` and `everyoneRefused` of
   * `SessionAuthEvents.serviceStatus`, and `unreachable`, the reason, where a probe failed.
   */
  async isHealthy<Key extends string = typeof DEFAULT_KEY>(
    key: Key = DEFAULT_KEY as Key,
    { probe = false }: SessionAuthHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const check = this.health.check(key);
    const unreachable = probe ? await this.#probe() : undefined;
    const { ...status } = this.events.serviceStatus;
    if (unreachable !== undefined) return check.down({ ...status, unreachable });
    return status.state === 'down' ? check.down(status) : check.up(status);
  }

  /** Why the service did not answer, if it did not. */
  async #probe(): Promise<string | undefined> {
    try {
      await this.sessions.userDetails(PROBE_TOKEN);
      return undefined;
    } catch (error) {
      return isSessionAuthError(error) && 'reason' in error ? String(error.reason) : undefined;
    }
  }
}
