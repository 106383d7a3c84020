/** Why a call to the session service brought no reply. */
export type CallFailureReason = 'unreachable' | 'timeout' | 'api_key' | 'shutting_down';

/** A call that brought no reply. Carries a reason and nothing of the request, so that no log of it can hold a key or a token. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly reason: CallFailureReason;

  constructor(reason: CallFailureReason) {
    super(`The call to the session service failed: ${reason}`);
    this.reason = reason;
  }
}
