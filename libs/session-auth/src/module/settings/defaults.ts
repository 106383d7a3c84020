/**
 * The default of each option. `npm run docs:defaults` compares the TSDoc and the configuration guide with it.
 */
export const DEFAULTS = {
  forwardAuthIv: true,
  timeoutMs: 3_000,
  signInTimeoutMs: 10_000,
  signOutTimeoutMs: 5_000,
  retry: { maxAttempts: 2 },
  breaker: { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 30_000 },
  maxInFlight: 128,
  maxQueued: 1_024,
  maxSignIns: 32,
  cache: { negativeTtlMs: 5_000, maxEntries: 10_000, refreshAheadMs: 0, staleIfErrorMs: 0 },
  store: { timeoutMs: 50 },
  identityFields: ['username', 'email'],
  tokenEcho: 'deny',
  audit: 'warn',
  http: { maxResponseBytes: 65_536, maxTokenLength: 4_096 },
  name: 'default',
  isGlobal: true,
  protectAllRoutes: false,
} as const;
