import { type RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

const INK = { axis: '#aab3c8', grid: '#2a3350' };

/** Draws a chart into an element, at the width of the element. */
export function usePlot(options: Omit<uPlot.Options, 'width'>, data: uPlot.AlignedData): RefObject<HTMLDivElement | null> {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  useEffect(() => {
    const element = container.current;
    if (!element) return undefined;
    const drawn = new uPlot({ ...options, width: element.clientWidth }, data, element);
    plot.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: options.height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data), [data]);
  return container;
}

/** No cursor and no legend: the totals beside a chart are its legend. */
export const PLAIN: Required<Pick<uPlot.Options, 'cursor' | 'legend' | 'padding'>> = {
  cursor: { show: false },
  legend: { show: false },
  padding: [8, 14, 0, 0],
};

/** The axis and the scale of the last minute, in seconds before now. */
export const LAST_MINUTE: { readonly axis: uPlot.Axis; readonly scale: uPlot.Scale } = {
  axis: {
    ...axisLook(),
    size: 20,
    splits: () => [-60, -45, -30, -15, 0],
    values: (_plot, seconds) => seconds.map((second) => (second === 0 ? 'now' : `${-second} s ago`)),
  },
  scale: { time: false, range: [-60, 0.5] },
};

/** Returns the look of an axis. */
export function axisLook(): Pick<uPlot.Axis, 'stroke' | 'font' | 'grid' | 'ticks' | 'gap'> {
  return { stroke: INK.axis, font: '11px system-ui, sans-serif', grid: { stroke: INK.grid, width: 1 }, ticks: { show: false }, gap: 4 };
}
