/** Often at first; later, to leave the processor to what is awaited. */
const [SOON_MS, LATER_MS, SOON_UNTIL_MS] = [5, 25, 100];
const PATIENCE_MS = 60_000;

/**
 * Resolves as soon as something holds; rejects, naming it, when it does not in a time that no busy machine
 * needs.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const startMs = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > patienceMs) throw new Error(`Not within ${patienceMs} ms: ${what}`);
    const pauseMs = waitedMs < SOON_UNTIL_MS ? SOON_MS : LATER_MS;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
