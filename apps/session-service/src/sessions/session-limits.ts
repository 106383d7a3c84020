/** The lifetime and the number of sessions. */
export class SessionLimits {
  /**
   * @param lifetimeMs - milliseconds from sign-in until a session expires
   * @param maxPerUser - sessions of one user at a time; a further sign-in ends the oldest
   */
  constructor(
    readonly lifetimeMs = 12 * 60 * 60 * 1000,
    readonly maxPerUser = 1000,
  ) {}
}
