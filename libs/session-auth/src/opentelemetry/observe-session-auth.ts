import { subscribe, unsubscribe, type Channel } from 'node:diagnostics_channel';
import {
  metrics,
  trace,
  type Meter,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  ValueType,
} from '@opentelemetry/api';
import {
  BREAKER,
  type BreakerMessage,
  CALLS,
  type CallMessage,
  CAUSE_CHANGES,
  type CauseMessage,
  CHECKS,
  type CheckMessage,
  DENIALS,
  type DenialMessage,
} from '../contract/diagnostics.js';

/** Options of {@link observeSessionAuth}. */
export interface ObservationOptions {
  /** Meter of the metrics. @default the meter `nestjs-session-auth` of the global provider */
  readonly meter?: Meter;
  /** Tracer of the spans. @default the tracer `nestjs-session-auth` of the global provider */
  readonly tracer?: Tracer;
}

const SCOPE = 'nestjs-session-auth';

/**
 * Starts reporting to OpenTelemetry what all registrations in this process do:
 *
 * - `session_auth.check.duration`, a histogram in seconds: checks
 * - `session_auth.denials`, a counter: requests that the guard denied, and sign-ins that failed
 * - `session_auth.calls.active`, an up-down counter: calls to the session service in flight
 * - `session_auth.breaker.state`, a gauge: 0 closed, 1 half-open, 2 open
 * - `session_auth.causes.active`, a gauge: causes of denials that are not over
 * - a client span for each call, with attributes of the semantic conventions
 *
 * The guide to operations lists the attributes. None of them contains a key, token, IV, password or user.
 * Returns a function that stops the reporting.
 */
export function observeSessionAuth({
  meter = metrics.getMeter(SCOPE),
  tracer = trace.getTracer(SCOPE),
}: ObservationOptions = {}): () => void {
  const { start, end } = observeCalls(meter, tracer);
  const listeners: readonly (readonly [Channel, Listener])[] = [
    [CHECKS, recordChecks(meter)],
    [DENIALS, countDenials(meter)],
    [BREAKER, recordBreakers(meter)],
    [CAUSE_CHANGES, recordCauses(meter)],
    [CALLS.start, start],
    [CALLS.asyncEnd, end],
  ];
  for (const [{ name }, listener] of listeners) subscribe(name, listener);
  return () => {
    for (const [{ name }, listener] of listeners) unsubscribe(name, listener);
  };
}

type Listener = (message: unknown) => void;

/** Bucket boundaries in seconds, from a cache hit to a check that reaches its deadline. */
const BOUNDARIES = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function recordChecks(meter: Meter): Listener {
  const histogram = meter.createHistogram('session_auth.check.duration', {
    description: 'Time that a request waited for its session to be checked',
    unit: 's',
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  return (message) => {
    const { outcome, source, reason, durationMs } = message as CheckMessage;
    histogram.record(durationMs / 1_000, {
      'session_auth.outcome': outcome,
      'session_auth.source': source,
      ...(reason && { 'error.type': reason }),
    });
  };
}

/** Rules that are values of an attribute. The others are `other`. */
const MAX_RULES = 100;

function countDenials(meter: Meter): Listener {
  const counter = meter.createCounter('session_auth.denials', {
    description: 'Calls that the guard denied, and sign-ins that failed',
    unit: '{request}',
    valueType: ValueType.INT,
  });
  const rules = new Set<string>();
  return (message) => {
    const { code, rule, wouldDeny } = message as DenialMessage;
    if (rule !== undefined && rules.size < MAX_RULES) rules.add(rule);
    counter.add(1, {
      'session_auth.code': code,
      ...(wouldDeny && { 'session_auth.would_deny': true }),
      ...(rule !== undefined && { 'session_auth.rule': rules.has(rule) ? rule : 'other' }),
    });
  };
}

const BREAKER_STATES = { closed: 0, halfOpen: 1, open: 2 } as const;

function recordBreakers(meter: Meter): Listener {
  const gauge = meter.createGauge('session_auth.breaker.state', {
    description: 'Circuit breaker to the session service: 0 closed, 1 half-open, 2 open',
    valueType: ValueType.INT,
  });
  const record: Listener = (message) => {
    const { lane, state } = message as BreakerMessage;
    gauge.record(BREAKER_STATES[state], { 'session_auth.lane': lane });
  };
  for (const lane of ['known', 'strangers']) record({ lane, state: 'closed' });
  return record;
}

function recordCauses(meter: Meter): Listener {
  const gauge = meter.createGauge('session_auth.causes.active', {
    description: "Causes of denials that are not the callers' own, and are not over",
    valueType: ValueType.INT,
  });
  return (message) => {
    const { active, cause } = message as CauseMessage;
    gauge.record(active, { 'session_auth.cause': cause });
  };
}

/** Counts the calls in flight, and creates a span for each call. */
function observeCalls(meter: Meter, tracer: Tracer): Readonly<Record<'start' | 'end', Listener>> {
  const spans = new WeakMap<object, Span>();
  const active = meter.createUpDownCounter('session_auth.calls.active', {
    description: 'Calls to the session service in flight',
    unit: '{call}',
    valueType: ValueType.INT,
  });
  const count = (change: number, { operation }: CallMessage): void =>
    active.add(change, { 'session_auth.operation': operation });
  return {
    start: (message) => {
      const call = message as CallMessage;
      count(1, call);
      const attributes = {
        'session_auth.operation': call.operation,
        'http.request.method': call.method,
        'server.address': call.serverAddress,
        'server.port': call.serverPort,
      };
      spans.set(call, tracer.startSpan(`session ${call.operation}`, { kind: SpanKind.CLIENT, attributes }));
    },
    end: (message) => {
      const call = message as CallMessage;
      const span = spans.get(call);
      if (!span) return;
      spans.delete(call);
      count(-1, call);
      endSpan(span, call);
    },
  };
}

function endSpan(span: Span, { outcome, reason, statusCode }: CallMessage): void {
  if (statusCode !== undefined) span.setAttribute('http.response.status_code', statusCode);
  if (outcome) span.setAttribute('session_auth.outcome', outcome);
  if (outcome === 'unavailable' || outcome === 'failed') {
    span.setAttribute('error.type', reason ?? outcome);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
