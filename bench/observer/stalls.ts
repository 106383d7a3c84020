import { readFileSync } from 'node:fs';

const TICK_MS = 10;
/** The usual delay of a timer on a machine that is not busy. */
const USUAL_DELAY_MS = 15;
/** The shortest stall that one process reports to another. */
const REPORTED_MS = 20;

/** Reports the time that a busy machine kept from this process, which is no fault of the library. */
export function reportStalls(report: (stallMs: number) => void): void {
  let last = performance.now();
  let lastWaitedMs = waitedMs();
  let unreportedMs = 0;
  setInterval(() => {
    const [now, waited] = [performance.now(), waitedMs()];
    unreportedMs +=
      waited !== undefined && lastWaitedMs !== undefined
        ? waited - lastWaitedMs
        : Math.max(0, now - last - TICK_MS - USUAL_DELAY_MS);
    [last, lastWaitedMs] = [now, waited];
    if (unreportedMs < REPORTED_MS) return;
    report(unreportedMs);
    unreportedMs = 0;
  }, TICK_MS).unref();
}

/** How long this process was ready to run and had no processor, where the system says so (Linux). */
function waitedMs(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1_000_000;
  } catch {
    return undefined;
  }
}
