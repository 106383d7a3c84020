/** Things an operator should know. Implemented where the logger is; called as often as they happen. */
export interface Warnings {
  /** The service answered what it never answers: most likely the base URL is not the session service's. */
  unexpectedReply(status: number): void;
  /** user_details answered with another token than was presented. */
  tokenMismatch(): void;
  /** The service accepts a session and forbids caching it, although the cache is on. */
  cachingForbidden(): void;
}
