import { type VNode } from 'preact';
import { CHECK_KINDS, DENIAL_CODES, type LiveReport } from '../../src/console/messages.js';
import { count } from '../text.js';
import { BREAKER_LOOKS, DENIAL_LABELS, KIND_LOOKS } from './kinds.js';

/** Renders the state of the breaker. */
export function Breaker({ state }: { readonly state: LiveReport['breaker'] }): VNode {
  const { label, sign, meaning } = BREAKER_LOOKS[state];
  return (
    <p class="breaker" data-state={state} aria-live="polite">
      <span aria-hidden="true">{sign}</span> Breaker <strong>{label.toLowerCase()}</strong> <small>{meaning}</small>
    </p>
  );
}

/** Renders the cached sessions, and the calls in flight and in total. */
export function Status({ report }: { readonly report: LiveReport }): VNode {
  return (
    <dl class="gauges three">
      <Gauge label="Cached sessions" value={report.cached} />
      <Gauge label="Calls in flight" value={report.inFlight} />
      <Gauge label="Calls to the service" value={report.totals.calls} />
    </dl>
  );
}

/** Renders the number of checks of each kind, in the order and the colours of the chart. */
export function CheckTotals({ totals }: { readonly totals: LiveReport['totals'] }): VNode {
  return (
    <dl class="gauges kinds">
      {CHECK_KINDS.map((kind) => (
        <Gauge key={kind} kind={kind} label={KIND_LOOKS[kind].label} value={totals.checks[kind]} />
      ))}
    </dl>
  );
}

/** Renders the number of denials, by the code in the reply. */
export function Denials({ totals }: { readonly totals: LiveReport['totals'] }): VNode {
  return (
    <dl class="gauges four">
      {DENIAL_CODES.map((code) => (
        <Gauge key={code} label={DENIAL_LABELS[code]} value={totals.denials[code]} />
      ))}
    </dl>
  );
}

function Gauge({ label, value, kind }: { readonly label: string; readonly value: number; readonly kind?: string }): VNode {
  return (
    <div data-kind={kind}>
      <dt>{label}</dt>
      <dd>{count(value)}</dd>
    </div>
  );
}
