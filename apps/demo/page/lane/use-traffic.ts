import { type RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Counts, noCounts } from './counts.js';
import { Animation, type MarkSource } from './animation.js';
import { type Geometry } from './geometry.js';
import { Traffic } from './traffic.js';

const STILL = '(prefers-reduced-motion: reduce)';

/** Draws the requests into a canvas, and returns their counts since the last change of `since`. */
export function useTraffic(
  canvas: RefObject<HTMLCanvasElement | null>,
  geometry: Geometry,
  source: MarkSource,
  since: number,
): Counts {
  const [counts, setCounts] = useState(noCounts);
  const traffic = useRef<Traffic>(undefined);
  useEffect(() => {
    if (!canvas.current) return undefined;
    const drawn = new Traffic(geometry, matchMedia(STILL).matches, traffic.current?.counts);
    traffic.current = drawn;
    return new Animation(canvas.current, geometry, drawn, setCounts).start(source);
  }, [geometry, source]);
  useEffect(() => {
    traffic.current?.reset();
    setCounts(noCounts());
  }, [since]);
  return counts;
}
