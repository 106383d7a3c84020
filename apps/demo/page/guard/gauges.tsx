import { type VNode } from 'preact';
import { CHECK_KINDS, DENIAL_CODES, type LiveReport } from '../../src/console/messages.js';
import { count } from '../text.js';
import { BREAKER_LOOKS, DENIAL_LABELS, KIND_LOOKS } from './kinds.js';

/** Whether the service is asked at all. */
export function Breaker({ state }: { readonly state: LiveReport['breaker'] }): VNode {
  const { label, sign, says } = BREAKER_LOOKS[state];
  return (
    <p class="breaker" data-state={state} aria-live="polite">
      <span aria-hidden="true">{sign}</span> Breaker <strong>{label.toLowerCase()}</strong> <small>{says}</small>
    </p>
  );
}

/** What stands and runs now. */
export function Standing({ report }: { readonly report: LiveReport }): VNode {
  return (
    <dl class="gauges three">
      <Gauge label="Sessions in memory" value={report.remembered} />
      <Gauge label="Calls in flight" value={report.inFlight} />
      <Gauge label="Calls to the service" value={report.totals.calls} />
    </dl>
  );
}

/** The checks of each kind, in the order and with the colours of the chart. */
export function CheckTotals({ totals }: { readonly totals: LiveReport['totals'] }): VNode {
  return (
    <dl class="gauges kinds">
      {CHECK_KINDS.map((kind) => (
        <Gauge key={kind} kind={kind} label={KIND_LOOKS[kind].label} value={totals.checks[kind]} />
      ))}
    </dl>
  );
}

/** The refusals, by the code in the reply. */
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
