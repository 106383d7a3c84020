import { type VNode } from 'preact';
import { type LiveReport } from '../../src/console/messages.js';
import { countAnew } from '../controls/console-api.js';
import { ChecksChart } from './checks-chart.js';
import { sayChecks, sayWaits } from './figures.js';
import { Breaker, CheckTotals, Denials, Standing } from './gauges.js';
import { useEvery } from './use-every.js';
import { type Connection, type Live } from './use-live.js';
import { WaitsChart } from './waits-chart.js';

const SAID_EVERY_MS = 5000;

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  open: 'live',
  broken: 'The live stream broke off; connecting again…',
  refused: 'No live stream now, perhaps because too many pages watch: close one. Trying again…',
};

/** What the guard does, while it does it. */
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
          <button type="button" class="small" onClick={() => void countAnew().catch(() => undefined)}>
            Count anew
          </button>
        )}
      </div>
      {report ? <Instruments reports={live.reports} report={report} /> : <p class="hint">Waiting for the first report…</p>}
    </section>
  );
}

function Instruments({ reports, report }: { readonly reports: readonly LiveReport[]; readonly report: LiveReport }): VNode {
  const said = useEvery(SAID_EVERY_MS, { checks: sayChecks(reports), waits: sayWaits(reports) });
  return (
    <>
      <Breaker state={report.breaker} />
      <Standing report={report} />
      <h3>Checks in all, and each second</h3>
      <CheckTotals totals={report.totals} />
      <ChecksChart reports={reports} said={said.checks} />
      <h3>How long a check waits: median, and the slowest faint</h3>
      <WaitsChart reports={reports} said={said.waits} />
      <h3>Refused in all</h3>
      <Denials totals={report.totals} />
    </>
  );
}
