import { cacheAlone, cacheTogether } from './policies.mjs';
import { drawsOf, randomFrom, zipfShares } from './zipf.mjs';

/** Long enough for thousands of calls in each scenario. */
const LEAST_SECONDS = 300;

/**
 * Simulates the fleet of the model, request by request. Returns figures per second in equilibrium. Both cache
 * policies get the same requests.
 */
export function simulated(fleet, seed = 1) {
  const random = randomFrom(seed);
  const load = loadOf(fleet, random);
  const policies = [cacheAlone(fleet, load, random), cacheTogether(fleet, load, random)];
  const requests = requestsOf(fleet, load, random);
  const settled = fleet.ttl + 1;
  const seconds = Math.max(LEAST_SECONDS, fleet.ttl);
  replay(requests, settled, policies);
  const before = policies.map(({ counts }) => ({ ...counts }));
  replay(requests, settled + seconds, policies);
  const [alone, together] = policies.map(({ counts }, index) => ratesOf(counts, before[index], seconds));
  return { ...together, callsWithoutStore: alone.calls, callsWithStore: together.calls };
}

function ratesOf(counts, before, seconds) {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, (count - before[name]) / seconds]),
  );
}

function replay(requests, until, policies) {
  for (let request = requests.next(); request.now < until; request = requests.next()) {
    for (const { ask } of policies) ask(request.user, request.instance, request.now);
  }
}

/** Returns the rates of the users, and their instances: one with sticky balancing, otherwise any. */
function loadOf({ users, exponent, instances, ratePerInstance, balancing }, random) {
  const rate = instances * ratePerInstance;
  const homes = Uint16Array.from({ length: users }, () => Math.floor(random() * instances));
  const isSticky = balancing === 'sticky';
  return {
    shares: zipfShares(users, exponent),
    place: (user) => (isSticky ? homes[user] : Math.floor(random() * instances)),
    /** Rate of one instance if all its requests were of one user. */
    visits: (user, instance) => (isSticky ? (homes[user] === instance ? rate : 0) : rate / instances),
  };
}

/** Yields requests as a Poisson process: time, user and instance. */
function requestsOf({ instances, ratePerInstance }, { shares, place }, random) {
  const draw = drawsOf(shares, random);
  const request = { now: 0, user: 0, instance: 0 };
  const next = () => {
    request.now -= Math.log1p(-random()) / (instances * ratePerInstance);
    request.user = draw();
    request.instance = place(request.user);
    return request;
  };
  return { next };
}
