import type { Credentials } from '../../client/session-requests.js';
import { InvalidRequestError, SessionRejectedError } from '../../contract/errors.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import { isHeaderValue } from '../../contract/wire.js';

const MAX_USERNAME_LENGTH = 1_024;

/** Checks what the application passes to the service class, before anything is sent. */
export class ServiceInput {
  readonly #maxTokenLength: number;

  constructor(maxTokenLength: number) {
    this.#maxTokenLength = maxTokenLength;
  }

  /** Returns the identity of a session. @throws SessionRejectedError when token or IV can't be sent */
  identity(token: unknown, authIv: string | undefined): SessionIdentity {
    if (!this.#isAuthIv(authIv)) throw new SessionRejectedError();
    return { token: this.token(token), authIv };
  }

  /** Returns a token. @throws SessionRejectedError when it can't be sent */
  token(token: unknown): string {
    if (!isHeaderValue(token, this.#maxTokenLength)) throw new SessionRejectedError();
    return token;
  }

  /** Returns the credentials of a sign-in. A controller may pass on any body. @throws InvalidRequestError when they can't be sent */
  credentials(credentials: unknown, authIv: string | undefined): Credentials {
    const { username, password } = fieldsOf(credentials);
    if (typeof username !== 'string' || typeof password !== 'string')
      throw new InvalidRequestError('A sign-in needs a username and a password');
    if (!this.#isAuthIv(authIv)) throw new InvalidRequestError('The X-AUTH-IV cannot be sent as it is');
    return { username, password };
  }

  /** Returns the name of a user. @throws InvalidRequestError when it is none */
  username(username: unknown): string {
    if (typeof username === 'string' && username.length > 0 && username.length <= MAX_USERNAME_LENGTH) return username;
    throw new InvalidRequestError('endUser needs the username of a user record, of 1 to 1024 characters');
  }

  #isAuthIv(authIv: string | undefined): boolean {
    return authIv === undefined || isHeaderValue(authIv, this.#maxTokenLength);
  }
}

function fieldsOf(credentials: unknown): { readonly username?: unknown; readonly password?: unknown } {
  return typeof credentials === 'object' && credentials !== null ? credentials : {};
}

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
