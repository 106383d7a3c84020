/** The session cache of one instance: sessions expire, and the least recently used is evicted. */
class Memory {
  #lapsesAt = new Map();
  #maxEntries;

  constructor(maxEntries) {
    this.#maxEntries = maxEntries;
  }

  /** Uses a session. On a miss, `find` fetches it and returns when it expires. */
  use(user, now, find) {
    let lapsesAt = this.#lapsesAt.get(user);
    if (lapsesAt !== undefined) this.#lapsesAt.delete(user);
    if (lapsesAt === undefined || lapsesAt <= now) lapsesAt = find(user, now);
    this.set(user, lapsesAt);
  }

  set(user, lapsesAt) {
    this.#lapsesAt.set(user, lapsesAt);
    if (this.#lapsesAt.size > this.#maxEntries) this.#lapsesAt.delete(this.#lapsesAt.keys().next().value);
  }
}

const memories = ({ instances, maxEntries }) => Array.from({ length: instances }, () => new Memory(maxEntries));

/**
 * Returns when a session that is cached at the start expires, or 0 if it is not cached. A fleet with empty caches would fetch its busy sessions in
 * step for a long time. In equilibrium a session is cached for the part rate * ttl / (1 + rate * ttl) of the time, and its age is uniform.
 */
function atRest(rate, ttl, random) {
  return random() < (rate * ttl) / (1 + rate * ttl) ? random() * ttl : 0;
}

/** Every instance has its own cache, without a store. */
export function rememberAlone(fleet, { shares, visits }, random) {
  const { serviceTime, ttl } = fleet;
  const remembered = memories(fleet);
  for (const [instance, memory] of remembered.entries()) {
    for (const [user, share] of shares.entries()) {
      const lapsesAt = atRest(share * visits(user, instance), ttl, random);
      if (lapsesAt > 0) memory.set(user, lapsesAt);
    }
  }
  const counts = { calls: 0 };
  const find = (_user, now) => {
    counts.calls += 1;
    return now + serviceTime + ttl;
  };
  return { counts, ask: (user, instance, now) => remembered[instance].use(user, now, find) };
}

/** Every instance has its own cache, and all share one store, in which one instance at a time holds the lease of a session. */
export function rememberTogether(fleet, { shares }, random) {
  const { ratePerInstance, instances, serviceTime, ttl, looksAgain } = fleet;
  const remembered = memories(fleet);
  const stored = shares.map((share) => atRest(share * ratePerInstance * instances, ttl, random));
  const counts = { calls: 0, reads: 0, writes: 0, polls: 0 };
  const find = (user, now) => {
    counts.reads += 1;
    if (stored[user] > now) {
      const wait = stored[user] - ttl - now;
      if (wait > 0) counts.polls += 1 + looksAgain.findIndex((at) => at >= wait);
      return stored[user];
    }
    counts.calls += 1;
    counts.writes += 1;
    return (stored[user] = now + serviceTime + ttl);
  };
  return { counts, ask: (user, instance, now) => remembered[instance].use(user, now, find) };
}
