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
  const callsWithStore = ({ rate }) => rate / (1 + rate * window);
  const calls = perSecond(callsWithStore);
  return {
    requests: instances * ratePerInstance,
    callsUncached: perSecond(({ rate, rateHere }) => rate / (1 + rateHere * serviceTime)),
    callsWithoutStore: perSecond(({ rate, rateHere }) => rate / requestsPerMiss(rateHere, window, room)),
    callsWithStore: calls,
    reads: perSecond((group) => callsWithStore(group) * readsPerCall(group.rateHere, window, room, spread)),
    writes: calls,
    polls: perSecond((group) => callsWithStore(group) * pollsPerCall(group.rateHere, fleet, spread)),
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
 * Returns the store reads per call to the service: one by every instance that needs the session before it
 * expires.
 */
function readsPerCall(rateHere, window, room, spread) {
  const rereads = room < window ? rateHere * Math.exp(-rateHere * room) * (window - room) : 0;
  const firstReads = -Math.expm1(-rateHere * Math.min(room, window));
  return 1 + rereads + (spread - 1) * (firstReads + rereads);
}

/** Returns how often other instances look again while the holder of the lease waits for the service. */
function pollsPerCall(rateHere, { serviceTime, looksAgain }, spread) {
  const missed = [0, ...looksAgain].filter((waited) => waited < serviceTime);
  return missed.reduce(
    (polls, waited) => polls - (spread - 1) * Math.expm1(-rateHere * (serviceTime - waited)),
    0,
  );
}
