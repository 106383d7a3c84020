const POLL_MS = 5;
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
  const giveUpAt = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`Not within ${patienceMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
