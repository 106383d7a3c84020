import { type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import { CHECK_KINDS, type LiveReport } from '../../src/console/messages.js';
import { KIND_LOOKS } from './kinds.js';
import { waitsOfKinds } from './series.js';
import { axisLook, LAST_MINUTE, PLAIN, usePlot } from './use-plot.js';

/** Powers of ten, in milliseconds. */
const MARKS = [-2, 0, 2, 4];
const MARK_LABELS: Readonly<Record<number, string>> = { [-2]: '10 µs', 0: '1 ms', 2: '100 ms', 4: '10 s' };

const OPTIONS: Omit<uPlot.Options, 'width'> = {
  ...PLAIN,
  height: 100,
  scales: { x: LAST_MINUTE.scale, y: { range: [-2.4, 4.2] } },
  axes: [
    LAST_MINUTE.axis,
    {
      ...axisLook(),
      size: 44,
      splits: () => MARKS,
      values: (_plot, marks) => marks.map((mark) => MARK_LABELS[mark] ?? ''),
    },
  ],
  series: [{}, ...CHECK_KINDS.flatMap((kind) => [slowestOf(KIND_LOOKS[kind]), medianOf(KIND_LOOKS[kind])])],
};

/** Draws the duration of checks, by kind: the median, and the slowest as a fainter line. */
export function WaitsChart({ reports, description }: { readonly reports: readonly LiveReport[]; readonly description: string }): VNode {
  const data = useMemo(() => waitsOfKinds(reports), [reports]);
  return <div ref={usePlot(OPTIONS, data)} class="chart" role="img" aria-label={description} />;
}

function medianOf({ colour, dash }: { readonly colour: string; readonly dash: number[] }): uPlot.Series {
  return { stroke: colour, width: 2, dash, points: { show: true, size: 4, fill: colour, stroke: colour } };
}

function slowestOf({ colour }: { readonly colour: string }): uPlot.Series {
  const faint = `${colour}66`;
  return { stroke: faint, width: 1, points: { show: true, size: 3, fill: faint, stroke: faint } };
}
