import {
  SpanKind,
  SpanStatusCode,
  ValueType,
  type Attributes,
  type Meter,
  type Span,
  type Tracer,
  type UpDownCounter,
} from '@opentelemetry/api';
import type { CallMessage } from '../contract/diagnostics.js';

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
