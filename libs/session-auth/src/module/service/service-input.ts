import type { Credentials } from '../../client/session-client.js';
import { InvalidRequestError, SessionRejectedError } from '../../exceptions/session-exceptions.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import { isHeaderValue } from '../../contract/wire.js';
import type { PresentedSession } from '../../guard/current-user.decorator.js';

const NO_TOKEN =
  'The session has no token: JSON and copies do not keep it. Store session.token and session.authIv, and treat both as passwords';

const MAX_USERNAME_LENGTH = 1_024;

export class ServiceInput {
  readonly #maxTokenLength: number;

  constructor(maxTokenLength: number) {
    this.#maxTokenLength = maxTokenLength;
  }

  /** @throws SessionRejectedError if the token or the IV can't be sent, and what `token()` throws */
  identity(session: string | PresentedSession, call: CallOptions): SessionIdentity {
    const authIv = isSession(session) ? session.authIv : call.authIv;
    if (!this.#isAuthIv(authIv)) throw new SessionRejectedError();
    return { token: this.token(session), authIv };
  }

  /** @throws SessionRejectedError if it can't be sent, InvalidRequestError if JSON has dropped it */
  token(session: string | PresentedSession): string {
    const token: unknown = isSession(session) ? session.token : session;
    if (token === undefined && isSession(session) && !Array.isArray(session))
      throw new InvalidRequestError(NO_TOKEN);
    if (!isHeaderValue(token, this.#maxTokenLength)) throw new SessionRejectedError();
    return token;
  }

  /** A controller may pass any body. */
  credentials(body: unknown, authIv: string | undefined): Credentials {
    const { username, password } = (typeof body === 'object' && body ? body : {}) as Readonly<
      Record<keyof Credentials, unknown>
    >;
    if (typeof username !== 'string' || typeof password !== 'string')
      throw new InvalidRequestError('A sign-in needs a username and a password');
    if (!this.#isAuthIv(authIv)) throw new InvalidRequestError('The X-AUTH-IV cannot be sent as it is');
    return { username, password };
  }

  username(username: unknown): string {
    if (typeof username === 'string' && username.length > 0 && username.length <= MAX_USERNAME_LENGTH)
      return username;
    throw new InvalidRequestError('forgetUser needs the username of a user record, of 1 to 1024 characters');
  }

  #isAuthIv(authIv: string | undefined): boolean {
    return authIv === undefined || isHeaderValue(authIv, this.#maxTokenLength);
  }
}

/** A controller may pass any value: only an object is a session. */
function isSession(session: unknown): session is PresentedSession {
  return typeof session === 'object' && session !== null;
}

/** Options of a call. */
export interface CallOptions {
  /**
   * The caller's `X-AUTH-IV`, sent upstream unchanged (section 5.6): visible ASCII, at most
   * `http.maxTokenLength` bytes. Only next to a token: a `PresentedSession` has its own. @default none
   */
  readonly authIv?: string | undefined;
  /** Aborts the wait: the promise rejects with the reason of the signal. A call that others share goes on. */
  readonly signal?: AbortSignal;
}

/** Options of `SessionAuthService.verify`. */
export interface VerifyOptions extends CallOptions {
  /** Maximum age of a cached session in milliseconds; 0 calls the service. @default up to `cache.ttlMs` */
  readonly maxAgeMs?: number;
}
