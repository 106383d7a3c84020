import { zipfGroups } from './zipf.mjs';

/**
 * What a fleet asks of its session service and of its store per second, by formula. Requests of a session come as a Poisson process.
 * With sticky balancing a session comes to one instance, with random balancing to any.
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
    callsFromMemory: perSecond(({ rate, rateHere }) => rate / requestsPerMiss(rateHere, window, room)),
    callsWithStore: calls,
    reads: perSecond((group) => callsWithStore(group) * readsPerCall(group.rateHere, window, room, spread)),
    writes: calls,
    polls: perSecond((group) => callsWithStore(group) * pollsPerCall(group.rateHere, fleet, spread)),
    storedSessions: calls * ttl,
    entriesInUse: distinctSessions(groups, window),
    entriesHeld: Math.min(maxEntries, distinctSessions(groups, Infinity)),
  };
}

/** How many sessions come to one instance within a time. */
function distinctSessions(groups, time) {
  return groups.reduce((sum, { countHere, rateHere }) => sum - countHere * Math.expm1(-rateHere * time), 0);
}

/** Che's approximation: a bounded memory holds what was asked for within this time, and drops what was not. */
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

/** The most lifetimes of the memory's room that the sum below counts without loss of digits. */
const MOST_TERMS = 80;

/**
 * Requests from one miss to the next, the miss among them, when a session is remembered for a window. It is 1 + rate * window, unless the
 * memory drops within its window what was not asked for during `room`: then the number of arrivals of a renewal process that ends with the
 * first gap longer than that. Its Laplace transform is (rate + s) / (s (s + q e^(-s room))), q = rate e^(-rate room).
 */
function requestsPerMiss(rate, window, room) {
  if (room >= window) return 1 + rate * window;
  if (window / room > MOST_TERMS) throw new RangeError(`maxEntries is too small for a lifetime of ${window} s: less than 1/80 of it fits`);
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

/** Reads of the store for each session that the fleet asks the service about: one by every instance that needs it while it lives. */
function readsPerCall(rateHere, window, room, spread) {
  const rereads = room < window ? rateHere * Math.exp(-rateHere * room) * (window - room) : 0;
  const firstReads = -Math.expm1(-rateHere * Math.min(room, window));
  return 1 + rereads + (spread - 1) * (firstReads + rereads);
}

/** How often other instances look again while the one with the claim waits for the service. */
function pollsPerCall(rateHere, { serviceTime, looksAgain }, spread) {
  const inVain = [0, ...looksAgain].filter((waited) => waited < serviceTime);
  return inVain.reduce((polls, waited) => polls - (spread - 1) * Math.expm1(-rateHere * (serviceTime - waited)), 0);
}
