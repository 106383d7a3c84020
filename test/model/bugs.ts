/** The rule of the model that each deliberate bug of the simulation (test/simulation/bugs.mjs) drops, by the name of the bug. */
export const RULES = {
  'A message is handled before the flights are evicted': 'late-detach',
  'A sign-in removes the tombstone late': 'late-clear',
  'A lifetime starts at the reply instead of the request': 'lifetime-from-reply',
  'A revocation is compared with the clock of the host': 'host-clock',
  'A flight is joined after forgetUser': 'joined-after-forget',
  'A new subscription does not clear the cache': 'resubscription',
  'A refused write over a tombstone is ignored': 'refused-write',
  'A sign-out that failed in the store is not repeated': 'no-retry',
  'A stale entry is served after a revocation': 'stale-revoked',
  'An evicted flight is cached': 'evicted-flight',
  'The age of a stored session is taken from the wall clock alone': 'wall-clock-age',
  'A request keeps its check after a revocation': 'kept-request',
} as const;

/**
 * Bugs of the simulation in what the model does not have: leases, own messages, full tables, the end of a process, refusals,
 * two tombstones, and clocks.
 */
export const NOT_MODELLED = [
  'The holder of a lease sends no heartbeat',
  'A sign-in drops a sign-out that is not delivered',
  'A sign-out sets no second tombstone',
  'A refusal elsewhere evicts nothing',
  'forgetAll is not stored',
  'An instance obeys its own message',
  'An overflow of forgotten users clears their table',
  'An overflow of undelivered revocations clears them',
  'An instance that closes drops what is pending',
  'A lifetime does not count the time of a suspended machine',
];

/** A rule of the model that a deliberate bug drops. */
export type Bug = (typeof RULES)[keyof typeof RULES];

/** Returns the name of a bug. */
export function bugOf(rule: Bug): string {
  return Object.entries(RULES).find(([, dropped]) => dropped === rule)?.[0] ?? rule;
}
