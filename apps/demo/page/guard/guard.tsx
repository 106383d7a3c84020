import { type VNode } from 'preact';
import { type LiveReport } from '../../src/console/messages.js';
import { resetCounts } from '../controls/console-api.js';
import { ChecksChart } from './checks-chart.js';
import { describeChecks, describeWaits } from './figures.js';
import { Breaker, CheckTotals, Denials, Status } from './gauges.js';
import { useEvery } from './use-every.js';
import { type Connection, type Live } from './use-live.js';
import { WaitsChart } from './waits-chart.js';

const DESCRIBED_EVERY_MS = 5000;

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  open: 'live',
  broken: 'The live stream was interrupted. Reconnecting…',
  refused: 'No live stream: perhaps too many pages watch the guard. Close one. Retrying…',
};

/** Renders the live view of the guard. */
export function Guard({ live, controls }: { readonly live: Live; readonly controls: boolean }): VNode {
  const report = live.reports.at(-1);
  return (
    <section class="guard" aria-labelledby="the-guard">
      <div class="panel-head">
        <h2 id="the-guard">The guard</h2>
        <p class="stream" data-connected={live.connection === 'open'} aria-live="polite">
          <span aria-hidden="true">{live.connection === 'open' ? '●' : '○'}</span> {CONNECTIONS[live.connection]}
        </p>
        {controls && (
          <button type="button" class="small" onClick={() => void resetCounts().catch(() => undefined)}>
            Reset counts
          </button>
        )}
      </div>
      {report ? <Instruments reports={live.reports} report={report} /> : <p class="hint">Waiting for the first report…</p>}
    </section>
  );
}

function Instruments({ reports, report }: { readonly reports: readonly LiveReport[]; readonly report: LiveReport }): VNode {
  const descriptions = useEvery(DESCRIBED_EVERY_MS, { checks: describeChecks(reports), waits: describeWaits(reports) });
  return (
    <>
      <Breaker state={report.breaker} />
      <Status report={report} />
      <h3>Checks: total and per second</h3>
      <CheckTotals totals={report.totals} />
      <ChecksChart reports={reports} description={descriptions.checks} />
      <h3>Duration of checks: median and slowest (faint)</h3>
      <WaitsChart reports={reports} description={descriptions.waits} />
      <h3>Denials in total</h3>
      <Denials totals={report.totals} />
    </>
  );
}
