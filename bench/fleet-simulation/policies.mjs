/** The session cache of one instance: sessions expire, and the least recently used is evicted. */
class SessionCache {
  #expiresAt = new Map();
  #maxEntries;

  constructor(maxEntries) {
    this.#maxEntries = maxEntries;
  }

  /** Uses a session. On a miss, `find` fetches it and returns when it expires. */
  use(user, now, find) {
    let expiresAt = this.#expiresAt.get(user);
    if (expiresAt !== undefined) this.#expiresAt.delete(user);
    if (expiresAt === undefined || expiresAt <= now) expiresAt = find(user, now);
    this.set(user, expiresAt);
  }

  set(user, expiresAt) {
    this.#expiresAt.set(user, expiresAt);
    if (this.#expiresAt.size > this.#maxEntries) this.#expiresAt.delete(this.#expiresAt.keys().next().value);
  }
}

const cachesOf = ({ instances, maxEntries }) =>
  Array.from({ length: instances }, () => new SessionCache(maxEntries));

/**
 * Returns when a session that is cached at the start expires, or 0 if it is not cached. A fleet with empty
 * caches would fetch its busy sessions in step for a long time. In equilibrium a session is cached for the
 * part rate * ttl / (1 + rate * ttl) of the time, and its age is uniform.
 */
function atRest(rate, ttl, random) {
  return random() < (rate * ttl) / (1 + rate * ttl) ? random() * ttl : 0;
}

/** Every instance has its own cache, without a store. */
export function cacheAlone(fleet, { shares, visits }, random) {
  const { serviceTime, ttl } = fleet;
  const caches = cachesOf(fleet);
  for (const [instance, cache] of caches.entries()) {
    for (const [user, share] of shares.entries()) {
      const expiresAt = atRest(share * visits(user, instance), ttl, random);
      if (expiresAt > 0) cache.set(user, expiresAt);
    }
  }
  const counts = { calls: 0 };
  const find = (_user, now) => {
    counts.calls += 1;
    return now + serviceTime + ttl;
  };
  return { counts, ask: (user, instance, now) => caches[instance].use(user, now, find) };
}

/**
 * Every instance has its own cache, and all share one store. An instance that finds no answer there makes a
 * call, also while another one makes its own.
 */
export function cacheTogether(fleet, { shares }, random) {
  const { ratePerInstance, instances, serviceTime, ttl } = fleet;
  const caches = cachesOf(fleet);
  /** The answers of each user: from when they are in the store, and when they expire. */
  const stored = Array.from(shares, (share) => [
    { from: 0, expiresAt: atRest(share * ratePerInstance * instances, ttl, random) },
  ]);
  const counts = { calls: 0, reads: 0, writes: 0 };
  const find = (user, now) => {
    counts.reads += 1;
    const found = stored[user].findLast(({ from }) => from <= now);
    if (found && found.expiresAt > now) return found.expiresAt;
    counts.calls += 1;
    counts.writes += 1;
    const answer = { from: now + serviceTime, expiresAt: now + serviceTime + ttl };
    stored[user] = [...stored[user].filter(({ expiresAt }) => expiresAt > now), answer];
    return answer.expiresAt;
  };
  return { counts, ask: (user, instance, now) => caches[instance].use(user, now, find) };
}
