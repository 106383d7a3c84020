import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { metrics, trace, type Meter, type Tracer } from '@opentelemetry/api';
import { BREAKER_CHANNEL, CALLS, CHECK_CHANNEL, DENIAL_CHANNEL } from '../contract/diagnostics.js';
import { BreakerGauge, CheckHistogram, DenialCounter } from './instruments.js';
import { CallObserver } from './instruments.js';

/** Where to report to. */
export interface ObservationOptions {
  /** @default the meter `nestjs-session-auth` of the global provider */
  readonly meter?: Meter;
  /** @default the tracer `nestjs-session-auth` of the global provider */
  readonly tracer?: Tracer;
}

const SCOPE = 'nestjs-session-auth';

/**
 * Reports to OpenTelemetry from now on, for all registrations of the module in this process:
 *
 * - `session_auth.check.duration`, a histogram in seconds: checks by `session_auth.outcome` (`accepted`, `rejected`, `denied`, `unavailable`)
 *   and `session_auth.source` (`memory`, `store`, `service`), unavailable ones by `error.type` too
 * - `session_auth.denials`, a counter: requests that the guard refused, by `session_auth.code`
 * - `session_auth.calls.active`, an up-down counter: calls to the session service that are under way, by `session_auth.operation`
 * - `session_auth.breaker.state`, a gauge: 0 closed, 1 half-open, 2 open, by `session_auth.lane` (`known`, `strangers`)
 * - a client span for each call, with the semantic conventions' `http.request.method`, `server.address`, `server.port`,
 *   `http.response.status_code` and, where it failed, `error.type`, and with `session_auth.operation` and `session_auth.outcome`
 *
 * No key, token, IV, password or user is in any of them. Gives what ends it.
 */
export function observeSessionAuth({ meter, tracer }: ObservationOptions = {}): () => void {
  const to = meter ?? metrics.getMeter(SCOPE);
  const checks = new CheckHistogram(to);
  const denials = new DenialCounter(to);
  const breaker = new BreakerGauge(to);
  const calls = new CallObserver(to, tracer ?? trace.getTracer(SCOPE));
  subscribe(CHECK_CHANNEL, checks.hear);
  subscribe(DENIAL_CHANNEL, denials.hear);
  subscribe(BREAKER_CHANNEL, breaker.hear);
  CALLS.subscribe(calls.subscribers);
  return () => {
    unsubscribe(CHECK_CHANNEL, checks.hear);
    unsubscribe(DENIAL_CHANNEL, denials.hear);
    unsubscribe(BREAKER_CHANNEL, breaker.hear);
    CALLS.unsubscribe(calls.subscribers);
  };
}
