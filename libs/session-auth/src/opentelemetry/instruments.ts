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

/** Bucket boundaries in seconds, from a cache hit to a check that reaches its deadline. */
const BOUNDARIES = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BREAKER_STATES = { closed: 0, halfOpen: 1, open: 2 } as const;

/** Histogram of checks by outcome and source. */
export class CheckHistogram {
  readonly #histogram: Histogram;

  constructor(meter: Meter) {
    this.#histogram = meter.createHistogram('session_auth.check.duration', {
      description: 'Time that a request waited for its session to be checked',
      unit: 's',
      advice: { explicitBucketBoundaries: BOUNDARIES },
    });
  }

  readonly onMessage = (message: unknown): void => {
    const { outcome, authority, source, reason, durationMs } = message as CheckMessage;
    this.#histogram.record(durationMs / 1_000, {
      'session_auth.outcome': outcome,
      'session_auth.source': source,
      'session_auth.authority': authority,
      ...(reason && { 'error.type': reason }),
    });
  };
}

/** Counter of the guard's denials. */
export class DenialCounter {
  readonly #counter: Counter;

  constructor(meter: Meter) {
    this.#counter = meter.createCounter('session_auth.denials', {
      description: 'Requests that the guard denied',
      unit: '{request}',
      valueType: ValueType.INT,
    });
  }

  readonly onMessage = (message: unknown): void => {
    const { code, authority } = message as DenialMessage;
    this.#counter.add(1, { 'session_auth.code': code, 'session_auth.authority': authority });
  };
}

/** Gauge of the circuit breaker of each lane. */
export class BreakerGauge {
  readonly #gauge: Gauge;

  constructor(meter: Meter) {
    this.#gauge = meter.createGauge('session_auth.breaker.state', {
      description: 'Circuit breaker to the session service: 0 closed, 1 half-open, 2 open',
      valueType: ValueType.INT,
    });
    for (const lane of ['known', 'strangers'] as const)
      this.#record({ authority: 'default', lane, state: 'closed' });
  }

  readonly onMessage = (message: unknown): void => {
    this.#record(message as BreakerMessage);
  };

  #record({ authority, lane, state }: BreakerMessage): void {
    this.#gauge.record(BREAKER_STATES[state], {
      'session_auth.lane': lane,
      'session_auth.authority': authority,
    });
  }
}

/** Counts calls to the session service in flight, and creates a span for each call. */
export class CallObserver {
  readonly #active: UpDownCounter;
  readonly #tracer: Tracer;
  readonly #spans = new WeakMap<CallMessage, Span>();

  constructor(meter: Meter, tracer: Tracer) {
    this.#tracer = tracer;
    this.#active = meter.createUpDownCounter('session_auth.calls.active', {
      description: 'Calls to the session service in flight',
      unit: '{call}',
      valueType: ValueType.INT,
    });
  }

  /** Subscribers of the tracing channel of calls. */
  readonly subscribers = {
    start: (message: CallMessage): void => {
      this.#active.add(1, activeAttributes(message));
      this.#spans.set(
        message,
        this.#tracer.startSpan(`session ${message.operation}`, {
          kind: SpanKind.CLIENT,
          attributes: startAttributes(message),
        }),
      );
    },
    end: (): void => undefined,
    asyncStart: (): void => undefined,
    asyncEnd: (message: CallMessage): void => {
      const span = this.#spans.get(message);
      if (!span) return;
      this.#spans.delete(message);
      this.#active.add(-1, activeAttributes(message));
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

function activeAttributes({ operation, authority }: CallMessage): Attributes {
  return { 'session_auth.operation': operation, 'session_auth.authority': authority };
}

/**
 * Returns the attributes at the start of a call. They have the names of the semantic conventions for HTTP
 * clients where those exist.
 */
function startAttributes({
  operation,
  authority,
  method,
  serverAddress,
  serverPort,
}: CallMessage): Attributes {
  return {
    'session_auth.operation': operation,
    'session_auth.authority': authority,
    'http.request.method': method,
    'server.address': serverAddress,
    'server.port': serverPort,
  };
}
