import {
  type Attributes,
  type Counter,
  type Gauge,
  type Histogram,
  type Meter,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type UpDownCounter,
  ValueType,
} from '@opentelemetry/api';
import type { BreakerMessage, CallMessage, CheckMessage, DenialMessage } from '../contract/diagnostics.js';

/** Seconds: from a look-up in memory to a check that ran out of time. */
const BOUNDARIES = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BREAKER_STATES = { closed: 0, halfOpen: 1, open: 2 } as const;

/** Checks by their outcome and source. */
export class CheckHistogram {
  readonly #histogram: Histogram;

  constructor(meter: Meter) {
    this.#histogram = meter.createHistogram('session_auth.check.duration', {
      description: 'Time that a request waited for its session to be checked',
      unit: 's',
      advice: { explicitBucketBoundaries: BOUNDARIES },
    });
  }

  readonly hear = (message: unknown): void => {
    const { outcome, source, reason, durationMs } = message as CheckMessage;
    this.#histogram.record(durationMs / 1_000, {
      'session_auth.outcome': outcome,
      'session_auth.source': source,
      ...(reason && { 'error.type': reason }),
    });
  };
}

/** What the guard refused. */
export class DenialCounter {
  readonly #counter: Counter;

  constructor(meter: Meter) {
    this.#counter = meter.createCounter('session_auth.denials', {
      description: 'Requests that the guard refused',
      unit: '{request}',
      valueType: ValueType.INT,
    });
  }

  readonly hear = (message: unknown): void => {
    this.#counter.add(1, { 'session_auth.code': (message as DenialMessage).code });
  };
}

/** The circuit breaker of each lane. */
export class BreakerGauge {
  readonly #gauge: Gauge;

  constructor(meter: Meter) {
    this.#gauge = meter.createGauge('session_auth.breaker.state', {
      description: 'Circuit breaker to the session service: 0 closed, 1 half-open, 2 open',
      valueType: ValueType.INT,
    });
    for (const lane of ['known', 'strangers'] as const) this.#record({ lane, state: 'closed' });
  }

  readonly hear = (message: unknown): void => {
    this.#record(message as BreakerMessage);
  };

  #record({ lane, state }: BreakerMessage): void {
    this.#gauge.record(BREAKER_STATES[state], { 'session_auth.lane': lane });
  }
}

/** Calls to the session service: how many are under way, and a span for each. */
export class CallObserver {
  readonly #active: UpDownCounter;
  readonly #tracer: Tracer;
  readonly #spans = new WeakMap<CallMessage, Span>();

  constructor(meter: Meter, tracer: Tracer) {
    this.#tracer = tracer;
    this.#active = meter.createUpDownCounter('session_auth.calls.active', {
      description: 'Calls to the session service that are under way',
      unit: '{call}',
      valueType: ValueType.INT,
    });
  }

  /** For the tracing channel of calls. */
  readonly subscribers = {
    start: (message: CallMessage): void => {
      this.#active.add(1, { 'session_auth.operation': message.operation });
      this.#spans.set(
        message,
        this.#tracer.startSpan(`session ${message.operation}`, { kind: SpanKind.CLIENT, attributes: known(message) }),
      );
    },
    end: (): void => undefined,
    asyncStart: (): void => undefined,
    asyncEnd: (message: CallMessage): void => {
      const span = this.#spans.get(message);
      if (!span) return;
      this.#spans.delete(message);
      this.#active.add(-1, { 'session_auth.operation': message.operation });
      this.#end(span, message);
    },
    error: (): void => undefined,
  };

  #end(span: Span, { outcome, reason, statusCode }: CallMessage): void {
    if (statusCode !== undefined) span.setAttribute('http.response.status_code', statusCode);
    if (outcome) span.setAttribute('session_auth.outcome', outcome);
    if (outcome === 'unavailable' || outcome === 'failed') {
      span.setAttribute('error.type', reason ?? outcome);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}

/** What is known when a call begins, under the names of the semantic conventions for HTTP clients where they have one. */
function known({ operation, method, serverAddress, serverPort }: CallMessage): Attributes {
  return {
    'session_auth.operation': operation,
    'http.request.method': method,
    'server.address': serverAddress,
    'server.port': serverPort,
  };
}
