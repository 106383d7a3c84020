import type { SessionIdentity } from '../contract/session-identity.js';

/**
 * The session that a caller presented: what `@CurrentSession()` injects, and `SessionAuthService` accepts in
 * place of a token.
 */
export interface PresentedSession {
  /** The presented token. */
  readonly token: string;
  /**
   * The `X-AUTH-IV` that was presented with the token, which is part of the session (section 5.6). @default
   * none
   */
  readonly authIv?: string | undefined;
}

/**
 * Hides token and IV from serialization and inspection, so that `return session` and a log line do not
 * contain them.
 */
export class HiddenSession implements PresentedSession {
  readonly #session: SessionIdentity;

  constructor(session: SessionIdentity) {
    this.#session = session;
  }

  get token(): string {
    return this.#session.token;
  }

  get authIv(): string | undefined {
    return this.#session.authIv;
  }
}
