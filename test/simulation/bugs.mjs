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
    find: 'this.#parts.cache?.evictAll();\n    this.#closeFlights();\n    this.#parts.onUsersRevoked',
    replace: 'this.#parts.cache?.evictAll();\n    this.#parts.onUsersRevoked',
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
    find: 'if (this.#isClosed || this.#pending.size === 0) return;',
    replace: 'this.#pending.clear();\n    if (this.#isClosed || this.#pending.size === 0) return;',
  },
  {
    name: 'A stale entry is served after a revocation',
    file: 'verifier/cache/session-cache.ts',
    find: 'this.#isUsable(keys.tokenKey, user, lifetimeMs, lifetimeMs) ? user : undefined;',
    replace: 'this.#isYounger(this.#entries, keys.tokenKey, lifetimeMs, lifetimeMs) ? user : undefined;',
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
    find: 'ageMs: isKnown ? Math.max(byStoreMs, byHostMs, byStoreClockMs) : Infinity,',
    replace: 'ageMs: Math.max(0, byHostMs),',
  },
  {
    name: 'A request keeps its check after a revocation',
    file: 'verifier/session-verifier.ts',
    find: 'earlier?.verifier === this && earlier.revocations === revocations &&',
    replace: 'earlier?.verifier === this &&',
  },
  {
    name: 'A sign-in drops a sign-out that is not delivered',
    file: 'verifier/shared/shared-revocations.ts',
    find: "if (wasPending) await this.deliver({ kind: 'evicted', tokenKey });",
    replace: 'void wasPending;',
  },
  {
    name: 'A sign-out sets no second tombstone',
    file: 'verifier/shared/shared-revocations.ts',
    find: 'isStored ||= await this.#succeeds(() => this.#store(revocation, leftMs));',
    replace: "isStored ||= revocation.kind === 'signedOut' || (await this.#succeeds(() => this.#store(revocation, leftMs)));",
  },
  {
    name: 'A refusal elsewhere evicts nothing',
    file: 'verifier/revocation/local-revoker.ts',
    find: 'this.#parts.cache?.evictSession(revocation.tokenKey);',
    replace: '',
  },
  {
    name: 'forgetAll is not stored',
    file: 'verifier/shared/shared-revocations.ts',
    find: 'return [store.setRevocation(seal.nameOfAll, leftMs)];',
    replace: 'return [];',
  },
  {
    name: 'An instance obeys its own message',
    file: 'verifier/shared/revocation-bus.ts',
    find: 'envelope.from === this.#id || ',
    replace: '',
  },
  {
    name: 'An overflow of forgotten users clears their table',
    file: 'verifier/revocation/revocations.ts',
    find: 'else this.addAll();',
    replace: 'else revocations.clear();',
  },
  {
    name: 'An overflow of undelivered revocations clears them',
    file: 'verifier/shared/outbox.ts',
    find: 'this.#reports.overflowed();',
    replace: '',
  },
  {
    name: 'An instance that closes drops what is pending',
    file: 'verifier/shared/outbox.ts',
    find: 'if (this.#pending.size > 0) await this.#drained();',
    replace: 'this.#pending.clear();',
  },
  {
    name: 'A lifetime does not count the time of a suspended machine',
    file: 'verifier/cache/clock-steps.ts',
    find: 'byMonotonicMs + aheadMs < ageMs',
    replace: 'byMonotonicMs < ageMs',
  },
];
