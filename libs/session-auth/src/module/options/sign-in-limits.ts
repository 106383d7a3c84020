/** Options that limit sign-ins. */
export interface SignInLimits {
  /**
   * Sign-ins in flight, each on a connection of its own. 1 to 10 000. A further sign-in rejects with 503 at once. As many sign-outs, counted
   * separately, so that sign-ins never block a sign-out. @default 32
   */
  readonly maxSignIns?: number;

  /**
   * Limits the sign-ins that the service refuses (401, 404), by user name and client, and by client. A further one rejects with
   * `TooManyAttemptsError` (429), without a call. `SessionAuthService.signIn` then requires the `client`. Each instance and each
   * registration counts its own (our decision). `false`: off. @default false
   */
  readonly signInLimit?: false | SignInLimitOptions;
}

/** Limits of refused sign-ins. */
export interface SignInLimitOptions {
  /** Refused sign-ins of one user name from one client within `windowMs`. 1 to 100. */
  readonly failures: number;
  /** Milliseconds for which a refused sign-in counts. 1 to 86 400 000. */
  readonly windowMs: number;
  /** Refused sign-ins of one client within `windowMs`, whatever the user names. `failures` to 1000. @default ten times `failures` */
  readonly failuresPerClient?: number;
}
