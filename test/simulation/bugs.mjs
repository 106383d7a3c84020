// Realistic races, each a change to one source file of the library. `find` must occur in it exactly once.

/** Deliberate bugs that the simulation must detect. */
export const BUGS = [
  {
    name: 'A message is handled before the flights are evicted',
    file: 'verifier/revocation/local-revoker.ts',
    find: 'revoke(tokenKey: TokenKey): void {\n    this.#count += 1;\n    this.#detachFlights(tokenKey);',
    replace: 'revoke(tokenKey: TokenKey): void {\n    this.#count += 1;\n    setTimeout(() => this.#detachFlights(tokenKey), 1).unref();',
  },
  {
    name: 'A sign-in removes the tombstone late',
    file: 'verifier/revocation/session-revoker.ts',
    find: 'void this.#shared?.clearTombstone(tokenKey);',
    replace: 'setTimeout(() => void this.#shared?.clearTombstone(tokenKey), 100).unref();',
  },
  {
    name: 'A lifetime starts at the reply instead of the request',
    file: 'verifier/single-flight.ts',
    find: 'this.#onSettled(keys, value, startedAtMs);',
    replace: 'this.#onSettled(keys, value, performance.now());',
  },
  {
    name: 'The holder of a lease sends no heartbeat',
    file: 'verifier/shared/leases.ts',
    find: 'if (performance.now() - oldestMs >= this.#beatMs / 2) {',
    replace: 'if (performance.now() - oldestMs >= 100 * this.#beatMs) {',
  },
  {
    name: 'A revocation is compared with the clock of the host',
    file: 'verifier/shared/shared-record.ts',
    find: 'sinceMs: since,',
    replace: 'sinceMs: confirmedAt,',
  },
  {
    name: 'A flight is joined after forgetUser',
    file: 'verifier/revocation/local-revoker.ts',
    find: 'this.#revocations.addUser(username);\n    this.#closeFlights();',
    replace: 'this.#revocations.addUser(username);',
  },
  {
    name: 'A new subscription does not clear the cache',
    file: 'verifier/shared/shared-revocations.ts',
    find: 'listener.messagesLost();\n',
    replace: '\n',
  },
  {
    name: 'A refused write over a tombstone is ignored',
    file: 'verifier/shared/shared-tier.ts',
    find: 'if (!isSet) this.revocations.foundTombstone(keys.tokenKey);',
    replace: 'void isSet;',
  },
  {
    name: 'A sign-out that failed in the store is not repeated',
    file: 'verifier/shared/outbox.ts',
    find: 'if (await this.#attempt(pending)) this.#remove(pending);\n    else this.#retryLater();',
    replace: 'await this.#attempt(pending);\n    this.#remove(pending);',
  },
  {
    name: 'A stale entry is served after a revocation',
    file: 'verifier/cache/session-cache.ts',
    find: 'return user !== undefined && this.#isUsable(keys.tokenKey, user, ttlMs + staleIfErrorMs) ? user : undefined;',
    replace: 'return user !== undefined && this.#entries.isYoungerThan(keys.tokenKey, ttlMs + staleIfErrorMs) ? user : undefined;',
  },
  {
    name: 'An evicted flight is cached',
    file: 'verifier/single-flight.ts',
    find: 'const isCurrent = (): boolean => this.#flights.get(sessionKey) === entry;',
    replace: 'const isCurrent = (): boolean => entry !== undefined;',
  },
  {
    name: 'The age of a stored session is taken from the wall clock alone',
    file: 'verifier/shared/shared-record.ts',
    find: 'ageMs: Math.max(0, byStoreMs, byHostMs, storeTimeMs - since),',
    replace: 'ageMs: Math.max(0, byHostMs),',
  },
  {
    name: 'A request keeps its check after a revocation',
    file: 'verifier/session-verifier.ts',
    find: 'earlier?.verifier === this && earlier.revocations === revocations &&',
    replace: 'earlier?.verifier === this &&',
  },
];
