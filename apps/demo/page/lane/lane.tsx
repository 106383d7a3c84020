import { type VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { type LiveReport } from '../../src/console/messages.js';
import { type Live } from '../console/use-live.js';
import { type Trickle } from '../console/use-trickle.js';
import { useEvery } from './use-every.js';
import { describe } from './counts.js';
import { layOut } from './geometry.js';
import { Legend } from './legend.js';
import { Stations } from './stations.js';
import { useTraffic } from './use-traffic.js';
import { useWidth } from './use-width.js';

const DESCRIBED_EVERY_MS = 4_000;

interface LaneProps {
  readonly live: Live;
  /** Changes when the counts are reset. */
  readonly since: number;
  /** The few requests that show the way; absent while something else runs. */
  readonly trickle: Trickle | undefined;
}

/**
 * Renders the way of every request, from the users through the guard to the session service, with its
 * outcome.
 */
export function Lane({ live, since, trickle }: LaneProps): VNode {
  const figure = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(figure);
  const geometry = useMemo(() => layOut(width), [width]);
  const counts = useTraffic(canvas, geometry, live.onMarks, since);
  const report = live.report;
  const text = useEvery(
    DESCRIBED_EVERY_MS,
    trickle?.isOn ? '' : `${describe(counts)} ${describeState(report)}`,
  );
  return (
    <section class="lane" aria-labelledby="the-lane">
      <h2 id="the-lane" class="visually-hidden">
        The way of a request
      </h2>
      <div class="picture" ref={figure} data-connected={live.connection === 'open'}>
        {width > 0 && <Stations at={geometry} report={report} counts={counts} />}
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <p class="visually-hidden" aria-live="polite">
        {text}
      </p>
      <Legend counts={counts} connection={live.connection} isRoomy={geometry.isRoomy} trickle={trickle} />
    </section>
  );
}

function describeState(report: LiveReport | undefined): string {
  if (!report) return '';
  const { known, strangers } = report.breakers;
  return known === 'closed' && strangers === 'closed'
    ? ''
    : `Breakers: signed-in users ${known}, strangers ${strangers}.`;
}
