/** What may go with a call. */
export interface CallOptions {
  /** The caller's `X-AUTH-IV`, sent upstream unchanged (section 5.6): visible ASCII, at most `http.maxTokenLength` bytes. @default none */
  readonly authIv?: string;
  /** Gives up waiting; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What may go with `SessionAuthService.verify`. */
export interface VerifyOptions extends CallOptions {
  /** Milliseconds that a remembered session may be old; 0 asks the service now. @default as old as its lifetime allows */
  readonly maxAgeMs?: number;
}
