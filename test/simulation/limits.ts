/**
 * Sizes of tables of the library. The bundle reads them from here (bundle.mjs), so that few entries overflow
 * them.
 */
export interface Limits {
  /** Revoked users in the memory of an instance. */
  readonly MAX_USERS: number;
  /** Revoked tokens in the memory of an instance. */
  readonly MAX_TOKENS: number;
  /** Undelivered writes. */
  readonly MAX_PENDING: number;
}

/** Sets the sizes of the next history; without an argument, those of the library. */
export function useLimits(limits?: Limits): void {
  Object.assign(globalThis, { simulatedLimits: limits });
}
