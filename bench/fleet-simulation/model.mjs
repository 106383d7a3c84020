import { zipfGroups } from './zipf.mjs';

/**
 * Computes the load of a fleet on its session service and its store per second, by formula. Requests of a
 * session are a Poisson process. With sticky balancing, a session is sent to one instance; with random
 * balancing, to any.
 */
export function modelled(fleet) {
  const { instances, users, exponent, ratePerInstance, ttl, serviceTime, maxEntries } = fleet;
  const spread = fleet.balancing === 'sticky' ? 1 : instances;
  const groups = zipfGroups(users, exponent).map(({ count, share }) => {
    const rate = share * instances * ratePerInstance;
    return { count, rate, rateHere: rate / spread, countHere: (count * spread) / instances };
  });
  const window = serviceTime + ttl;
  const room = characteristicTime(groups, maxEntries);
  const perSecond = (count) => groups.reduce((sum, group) => sum + group.count * count(group), 0);
  const callsUncached = ({ rate, rateHere }) => rate / (1 + rateHere * serviceTime);
  /** The first calls, each of an instance that finds no entry and no call of another under way. */
  const firstCalls = ({ rate, rateHere }) =>
    rate / (1 + rate * (window + meanLag(rateHere, serviceTime, spread)));
  const callsWithStore = (group) =>
    ttl === 0 ? callsUncached(group) : firstCalls(group) * callsAtOnce(group.rateHere, serviceTime, spread);
  const calls = perSecond(callsWithStore);
  return {
    requests: instances * ratePerInstance,
    callsUncached: perSecond(callsUncached),
    callsWithoutStore: perSecond(({ rate, rateHere }) => rate / requestsPerMiss(rateHere, window, room)),
    callsWithStore: calls,
    reads:
      ttl === 0
        ? calls
        : perSecond((group) => firstCalls(group) * readsPerFirstCall(group.rateHere, window, room, spread)),
    writes: calls,
    storedSessions: calls * ttl,
    entriesInUse: distinctSessions(groups, window),
    entriesHeld: Math.min(maxEntries, distinctSessions(groups, Infinity)),
  };
}

/** Returns the number of sessions that are sent to one instance within a time. */
function distinctSessions(groups, time) {
  return groups.reduce((sum, { countHere, rateHere }) => sum - countHere * Math.expm1(-rateHere * time), 0);
}

/**
 * Che's approximation: a bounded cache holds the entries that were used within this time, and evicts all
 * others.
 */
function characteristicTime(groups, maxEntries) {
  if (distinctSessions(groups, Infinity) <= maxEntries) return Infinity;
  let [low, high] = [0, 1];
  while (distinctSessions(groups, high) < maxEntries) high *= 2;
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (distinctSessions(groups, middle) < maxEntries) low = middle;
    else high = middle;
  }
  return high;
}

/** Maximum ratio of the window to `room` for which the sum below is computed without loss of digits. */
const MOST_TERMS = 80;

/**
 * Returns the number of requests from one miss to the next, including the miss, when a session is cached for
 * a window. It is 1 + rate * window, unless the cache evicts, within the window, entries that were not used
 * during `room`: then it is the number of arrivals of a renewal process that ends with the first gap longer
 * than `room`. Its Laplace transform is (rate + s) / (s (s + q e^(-s room))), q = rate e^(-rate room).
 */
function requestsPerMiss(rate, window, room) {
  if (room >= window) return 1 + rate * window;
  if (window / room > MOST_TERMS)
    throw new RangeError(`maxEntries is too small for a lifetime of ${window} s: less than 1/80 of it fits`);
  const q = rate * Math.exp(-rate * room);
  let alive = 0;
  let integral = 0;
  let coefficient = 1;
  for (let term = 0; term * room < window; term += 1) {
    const left = window - term * room;
    if (term > 0) coefficient /= term;
    const summand = coefficient * (-q * left) ** term;
    alive += summand;
    integral += (summand * left) / (term + 1);
  }
  return alive + rate * integral;
}

/**
 * Returns the store reads per first call to the service: one by every instance that needs the session before
 * it expires.
 */
function readsPerFirstCall(rateHere, window, room, spread) {
  const rereads = room < window ? rateHere * Math.exp(-rateHere * room) * (window - room) : 0;
  const firstReads = -Math.expm1(-rateHere * Math.min(room, window));
  return 1 + rereads + (spread - 1) * (firstReads + rereads);
}

/** Returns the calls per first call: every instance that needs the session before its answer makes one too. */
function callsAtOnce(rateHere, serviceTime, spread) {
  return 1 - (spread - 1) * Math.expm1(-rateHere * serviceTime);
}

const STEPS = 20;

/**
 * Returns the mean time from the first of these calls to the last, whose answer replaces those of the others:
 * the integral, by the midpoint rule, of the probability that there is one after a time.
 */
function meanLag(rateHere, serviceTime, spread) {
  const step = serviceTime / STEPS;
  const isLater = (time) =>
    1 - (1 - Math.exp(-rateHere * time) + Math.exp(-rateHere * serviceTime)) ** (spread - 1);
  return Array.from({ length: STEPS }, (_, index) => step * isLater((index + 0.5) * step)).reduce(
    (sum, part) => sum + part,
  );
}
