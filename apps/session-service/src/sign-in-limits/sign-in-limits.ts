/** Limits of failed sign-ins, beyond which sign-ins are refused. */
export interface SignInLimitOptions {
  /** Failed sign-ins of one account from one caller within the window, 1 to 1 000 000. @default 10 */
  readonly maxFailures?: number;
  /** Failed sign-ins of all accounts from one caller within the window, 1 to 1 000 000. @default 500 */
  readonly maxFailuresPerCaller?: number;
  /** Failed sign-ins of one account from all callers within the window, 1 to 1 000 000. @default 100 */
  readonly maxFailuresPerAccount?: number;
  /**
   * Milliseconds in which a full count fades to zero, 1 to 86 400 000 (a day). @default 900 000 (15 minutes)
   */
  readonly windowMs?: number;
  /**
   * Number of keys in each table, 1 to 1 000 000; the key that failed longest ago is evicted. @default 50 000
   */
  readonly maxEntries?: number;
}

/** The limits, with defaults. */
export class SignInLimits implements Required<SignInLimitOptions> {
  readonly maxFailures: number;
  readonly maxFailuresPerCaller: number;
  readonly maxFailuresPerAccount: number;
  readonly windowMs: number;
  readonly maxEntries: number;

  constructor(options: SignInLimitOptions = {}) {
    this.maxFailures = options.maxFailures ?? 10;
    this.maxFailuresPerCaller = options.maxFailuresPerCaller ?? 500;
    this.maxFailuresPerAccount = options.maxFailuresPerAccount ?? 100;
    this.windowMs = options.windowMs ?? 15 * 60 * 1000;
    this.maxEntries = options.maxEntries ?? 50_000;
  }
}
