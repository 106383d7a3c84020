import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { metrics, trace, type Meter, type Tracer } from '@opentelemetry/api';
import { BREAKER_CHANNEL, CALLS, CHECK_CHANNEL, DENIAL_CHANNEL } from '../contract/diagnostics.js';
import { BreakerGauge, CallObserver, CheckHistogram, DenialCounter } from './instruments.js';

/** Options of {@link observeSessionAuth}. */
export interface ObservationOptions {
  /** Meter of the metrics. @default the meter `nestjs-session-auth` of the global provider */
  readonly meter?: Meter;
  /** Tracer of the spans. @default the tracer `nestjs-session-auth` of the global provider */
  readonly tracer?: Tracer;
}

const SCOPE = 'nestjs-session-auth';

/**
 * Starts reporting to OpenTelemetry, for all registrations of the module in this process:
 *
 * - `session_auth.check.duration`, a histogram in seconds: checks by `session_auth.outcome` (`authenticated`,
 * `unauthenticated`, `forbidden`, `unavailable`) and `session_auth.source` (`cache`, `store`, `service`), and
 * by `error.type` if unavailable
 * - `session_auth.denials`, a counter: requests that the guard denied, by `session_auth.code`
 * - `session_auth.calls.active`, an up-down counter: calls to the session service in flight, by
 * `session_auth.operation`
 * - `session_auth.breaker.state`, a gauge: 0 closed, 1 half-open, 2 open, by `session_auth.lane` (`known`,
 * `strangers`)
 * - a client span for each call, with `http.request.method`, `server.address`, `server.port`,
 * `http.response.status_code` and, on failure, `error.type` of the semantic conventions, and with
 * `session_auth.operation` and `session_auth.outcome`
 *
 * Each has `session_auth.authority`: the name of the registration, `default` for the one without a name.
 *
 * None of them contains a key, token, IV, password or user. Returns a function that stops the reporting.
 */
export function observeSessionAuth({ meter, tracer }: ObservationOptions = {}): () => void {
  const target = meter ?? metrics.getMeter(SCOPE);
  const checks = new CheckHistogram(target);
  const denials = new DenialCounter(target);
  const breaker = new BreakerGauge(target);
  const calls = new CallObserver(target, tracer ?? trace.getTracer(SCOPE));
  subscribe(CHECK_CHANNEL, checks.onMessage);
  subscribe(DENIAL_CHANNEL, denials.onMessage);
  subscribe(BREAKER_CHANNEL, breaker.onMessage);
  CALLS.subscribe(calls.subscribers);
  return () => {
    unsubscribe(CHECK_CHANNEL, checks.onMessage);
    unsubscribe(DENIAL_CHANNEL, denials.onMessage);
    unsubscribe(BREAKER_CHANNEL, breaker.onMessage);
    CALLS.unsubscribe(calls.subscribers);
  };
}
