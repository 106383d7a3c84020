/**
 * Draws items with the frequency of users: a few often, most of them rarely (Zipf, exponent 1). The same
 * draws in every run.
 */
export function zipf(items: number, seed = 1): () => number {
  const cumulative: number[] = [];
  for (let rank = 1; rank <= items; rank += 1) cumulative.push((cumulative.at(-1) ?? 0) + 1 / rank);
  const total = cumulative.at(-1) ?? 0;
  const random = randomFrom(seed);
  return () => {
    const drawn = random() * total;
    let low = 0;
    let high = items - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? 0) < drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/**
 * A small generator with a seed (mulberry32), so that every variant meets the same users in the same order.
 */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
