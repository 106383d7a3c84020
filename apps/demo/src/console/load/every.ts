/**
 * Calls a function at a fixed rate, in bursts if it is higher than timers are. Returns a function that stops
 * it.
 */
export function every(perSecond: number, act: (turn: number) => void): () => void {
  const startedAt = performance.now();
  let turns = 0;
  const timer = setInterval(
    () => {
      const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000) + 1;
      // A stall of the machine must not become a stampede.
      const first = Math.max(turns, due - Math.max(1, Math.floor(perSecond / 4)));
      for (turns = first; turns < due; turns += 1) act(turns);
    },
    Math.max(10, 1_000 / perSecond),
  ).unref();
  return () => clearInterval(timer);
}
