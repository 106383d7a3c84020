import { ValueType, type Counter, type Gauge, type Histogram, type Meter } from '@opentelemetry/api';
import type { BreakerMessage, CheckMessage, DenialMessage } from '../contract/diagnostics.js';

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
