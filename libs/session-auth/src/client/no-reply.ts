/** Why a call to the session service brought no reply. */
export type NoReplyReason = 'unreachable' | 'timeout' | 'api_key' | 'shutting_down';

/** A call that brought no reply. Carries a reason and nothing of the request, so that no log of it can hold a key or a token. */
export interface NoReply {
  readonly noReply: NoReplyReason;
  /** The connection had served before, and was closed before a byte of this reply. */
  readonly staleConnection?: true;
}

/** The same for the interceptors of an application, which expect an error. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  /** What the call brought instead. */
  readonly outcome: NoReply;

  constructor(outcome: NoReply) {
    super(`The call to the session service brought no reply: ${outcome.noReply}`);
    this.outcome = outcome;
  }
}

/** The service had closed the connection that was used. */
export const STALE_CONNECTION: NoReply = { noReply: 'unreachable', staleConnection: true };

/** Nobody answered, or not as HTTP does. */
export const UNREACHABLE: NoReply = { noReply: 'unreachable' };
