/** Why a call to the session service brought no reply. */
export type NoReplyReason = 'unreachable' | 'timeout' | 'api_key' | 'shutting_down';

/** A call that brought no reply. Carries a reason and nothing of the request, so that no log of it can hold a key or a token. */
export interface NoReply {
  readonly noReply: NoReplyReason;
}

/** The same for the interceptors of an application, which expect an error. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  readonly reason: NoReplyReason;

  constructor({ noReply }: NoReply) {
    super(`The call to the session service brought no reply: ${noReply}`);
    this.reason = noReply;
  }
}

/** Nobody answered, or not as HTTP does. */
export const UNREACHABLE: NoReply = { noReply: 'unreachable' };
