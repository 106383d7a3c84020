import { type Estimate, isPrecise, MIN_ROUNDS } from './estimate.js';

const MAX_HEATS = 15;
const MAX_MS = 240_000;

/**
 * Runs heats, each with new processes, because two processes of one variant may differ by a tenth for as long
 * as they live. Ends when each of the figures is known precisely enough, or the time is over.
 */
export async function runHeats(heat: () => Promise<void>, figures: () => readonly Estimate[]): Promise<void> {
  const endsAtMs = performance.now() + MAX_MS;
  for (let count = 1; count <= MAX_HEATS; count += 1) {
    await heat();
    const isOver = count >= MIN_ROUNDS && performance.now() > endsAtMs;
    if (isOver || figures().every((figure) => isPrecise(figure, count))) return;
  }
}
