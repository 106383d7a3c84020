import { type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { CHECK_KINDS, type LiveReport } from '../../src/console/messages.js';
import { KIND_LOOKS } from './kinds.js';
import { stackedChecks } from './series.js';
import { axisLook, LAST_MINUTE, PLAIN, usePlot } from './use-plot.js';

const LOWEST_TOP = 10;

const OPTIONS: Omit<uPlot.Options, 'width'> = {
  ...PLAIN,
  height: 104,
  scales: { x: LAST_MINUTE.scale, y: { range: (_plot, _low, high) => [0, Math.max(LOWEST_TOP, high)] } },
  axes: [LAST_MINUTE.axis, { ...axisLook(), size: 44, space: 24 }],
  series: [
    {},
    ...CHECK_KINDS.toReversed().map((kind) => ({
      fill: KIND_LOOKS[kind].colour,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars?.({ size: [0.8, 12], align: -1 }) ?? (() => null),
    })),
  ],
};

/** Draws the checks per second, by kind. */
export function ChecksChart({ reports, description }: { readonly reports: readonly LiveReport[]; readonly description: string }): VNode {
  const data = useMemo(() => stackedChecks(reports), [reports]);
  return <div ref={usePlot(OPTIONS, data)} class="chart" role="img" aria-label={description} />;
}
