import 'reflect-metadata';
import { Inject, Injectable, type InjectionToken } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import type { Verdict } from '../contract/outcome.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { authorityToken } from '../module/authorities/authority-tokens.js';
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
  /**
   * Name of the authority of `SessionAuthModule` to report. With an unknown name, the result is down.
   * @default the default authority
   */
  readonly authority?: string;
}

const DEFAULT_KEY = 'session-service';
const PROBE = { token: 'health-probe', authIv: undefined };

/**
 * Health indicator of the session service for `@nestjs/terminus`. Down while the circuit breaker of known
 * sessions is open, if their last three checks failed, or if a probe fails. Neither calls of
 * strangers nor a service that refuses every token make it down: its `state` is then `degraded`, and the
 * result is up.
 */
@Injectable()
export class SessionAuthHealthIndicator {
  readonly #probes = new Map<string, Promise<Verdict<unknown>>>();

  constructor(
    @Inject(HealthIndicatorService) private readonly health: HealthIndicatorService,
    @Inject(SessionAuthEvents) private readonly events: SessionAuthEvents,
    @Inject(SessionAuthService) private readonly sessions: SessionAuthService,
    @Inject(ModuleRef) private readonly modules?: ModuleRef,
  ) {}

  /**
   * Never rejects. Resolves with `up` or `down` for `key`, with `state`, `breakers`,
   * `misconfigurationSuspected`, `revocationBus`, `failedChecks` and `causes` of
   * `SessionAuthEvents.serviceStatus`. If a probe failed, `state` is `down`, and the reason is `unreachable`.
   */
  async isHealthy<Key extends string = typeof DEFAULT_KEY>(
    key: Key = DEFAULT_KEY as Key,
    { probe = false, authority = DEFAULT_AUTHORITY }: SessionAuthHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const check = this.health.check(key);
    const found = this.#authority(authority);
    if (!found) return check.down({ state: 'down', unknownAuthority: authority });
    const unreachable = probe ? await this.#sharedProbe(authority, found.sessions) : undefined;
    const { ...status } = found.events.serviceStatus;
    if (unreachable !== undefined) return check.down({ ...status, state: 'down', unreachable });
    return status.state === 'down' ? check.down(status) : check.up(status);
  }

  /** Returns the named authority; `undefined` if there is none. */
  #authority(
    name: string,
  ): { readonly events: SessionAuthEvents; readonly sessions: SessionAuthService } | undefined {
    if (name === DEFAULT_AUTHORITY) return { events: this.events, sessions: this.sessions };
    try {
      const find = (token: InjectionToken): unknown =>
        this.modules?.get<unknown>(token as string, { strict: false });
      const events = find(authorityToken(name, SessionAuthEvents)) as SessionAuthEvents | undefined;
      const sessions = find(authorityToken(name, SessionAuthService)) as SessionAuthService | undefined;
      return events && sessions && { events, sessions };
    } catch {
      return undefined;
    }
  }

  /** Resolves with the reason why the service did not answer; `undefined` if it did. */
  async #sharedProbe(authority: string, sessions: SessionAuthService): Promise<string | undefined> {
    const probe = this.#probes.get(authority) ?? sessions.probe(PROBE);
    this.#probes.set(authority, probe);
    const verdict = await probe;
    this.#probes.delete(authority);
    return verdict.kind === 'unavailable' ? verdict.reason : undefined;
  }
}
