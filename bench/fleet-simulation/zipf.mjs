/** Ranks up to this are counted individually; later ones in groups, each slightly wider than the previous. */
const SINGLE_RANKS = 2_000;
const GROUP_GROWTH = 1.01;

/**
 * Returns the distribution of requests over users: groups of users, with the share of all requests that each
 * user makes.
 */
export function zipfGroups(users, exponent) {
  const groups = [];
  for (let first = 1; first <= users;) {
    const last = first < SINGLE_RANKS ? first : Math.min(users, Math.floor(first * GROUP_GROWTH));
    groups.push({ count: last - first + 1, mass: powerSum(first, last, exponent) });
    first = last + 1;
  }
  const total = groups.reduce((sum, { mass }) => sum + mass, 0);
  return groups.map(({ count, mass }) => ({ count, share: mass / total / count }));
}

/**
 * The sum of rank^-exponent. The integral from half a step before to half a step after is off by less than
 * 1e-7 where ranks are high.
 */
function powerSum(first, last, exponent) {
  if (first === last) return first ** -exponent;
  const [from, to] = [first - 0.5, last + 0.5];
  return exponent === 1
    ? Math.log(to / from)
    : (to ** (1 - exponent) - from ** (1 - exponent)) / (1 - exponent);
}

/** Returns the share of all requests that each user makes. */
export function zipfShares(users, exponent) {
  const weights = Float64Array.from({ length: users }, (_, index) => (index + 1) ** -exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Draws a user, numbered from 0, with the probability of its share. */
export function drawsOf(shares, random) {
  let total = 0;
  const cumulative = shares.map((share) => (total += share));
  return () => {
    const drawn = random() * total;
    let low = 0;
    let high = cumulative.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle] < drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Creates a seeded random generator (mulberry32), so that every run simulates the same fleet. */
export function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
