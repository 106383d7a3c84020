import { useEffect, useState } from 'preact/hooks';
import { TRICKLE_EVERY_MS } from '../../src/console/messages.js';
import { sendTrickle } from './console-api.js';

/** The trickle ends by itself after about two minutes. */
const TURNS = 48;
const STILL = '(prefers-reduced-motion: reduce)';

/** The few requests that show the way while nothing else runs. */
export interface Trickle {
  readonly isOn: boolean;
  readonly toggle: () => void;
}

/**
 * Asks the demo for a few requests, again and again, while the page is idle and in view. Begins paused for
 * visitors who prefer reduced motion.
 */
export function useTrickle(isIdle: boolean): Trickle {
  const [isOn, setOn] = useState(() => !matchMedia(STILL).matches);
  useEffect(() => {
    if (!isIdle || !isOn) return undefined;
    let timer = 0;
    let left = TURNS;
    const turn = async (): Promise<void> => {
      if (left === 0) setOn(false);
      else if (!document.hidden) await sendTrickle();
      left -= 1;
      if (left >= 0) timer = setTimeout(() => void turn(), TRICKLE_EVERY_MS);
    };
    void turn();
    return () => {
      left = -1;
      clearTimeout(timer);
    };
  }, [isIdle, isOn]);
  return { isOn, toggle: () => setOn(!isOn) };
}
