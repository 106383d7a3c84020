import { unlessAborted } from '../client/unless-aborted.js';
import type { Deadline } from '../client/deadline.js';
import type { Deadlines } from '../client/deadlines.js';
import type { SessionClient, SignInResult } from '../client/session-client.js';
import type { Credentials } from '../client/session-wire.js';
import { errorOf, InvalidRequestError, SessionRejectedError } from '../contract/errors.js';
import { isHeaderValue } from '../contract/header-value.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/user-record.js';
import type { Verdict } from '../contract/verdict.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';
import { CallLimit } from './call-limit.js';
import type { CallOptions, VerifyOptions } from './call-options.js';

/** Limits of {@link SessionAuthService}. */
export interface ServiceSettings {
  readonly signInTimeoutMs: number;
  readonly signOutTimeoutMs: number;
  /** Sign-ins in flight; as many sign-outs beside them. */
  readonly maxSignIns: number;
  readonly maxTokenLength: number;
}

/**
 * The operations of the session service, typed. Every error is a `SessionAuthError`; one that a controller lets through
 * is answered with its own status.
 */
export class SessionAuthService<User extends UserRecord = CurrentUserRecord> {
  readonly #client: SessionClient<User>;
  readonly #verifier: SessionVerifier<User>;
  readonly #settings: ServiceSettings;
  readonly #signIns: CallLimit;
  /** Of their own: however many sign in, a session can be ended. */
  readonly #signOuts: CallLimit;

  /** @internal Nest builds it. */
  constructor(client: SessionClient<User>, verifier: SessionVerifier<User>, deadlines: Deadlines, settings: ServiceSettings) {
    this.#client = client;
    this.#verifier = verifier;
    this.#settings = settings;
    const maxInFlight = settings.maxSignIns;
    this.#signIns = new CallLimit(deadlines, { maxInFlight, timeoutMs: settings.signInTimeoutMs });
    this.#signOuts = new CallLimit(deadlines, { maxInFlight, timeoutMs: settings.signOutTimeoutMs });
  }

  /**
   * Signs in (section 4.1). A 202 is `accepted`: no user and no token. Tried once; `busy` at once where `maxSignIns` are in flight.
   * @throws CredentialsRejectedError (401, 404), InvalidRequestError (400), AccessDeniedError (403), SessionServiceUnavailableError
   */
  async signIn(credentials: Credentials, call: CallOptions = {}): Promise<SignInResult<User>> {
    const { username, password } = fieldsOf(credentials);
    if (typeof username !== 'string' || typeof password !== 'string')
      throw new InvalidRequestError('A sign-in needs a username and a password');
    if (!this.#isAuthIv(call.authIv)) throw new InvalidRequestError('The X-AUTH-IV cannot be sent as it is');
    const work = (deadline: Deadline) => this.#client.signIn({ username, password }, call.authIv, deadline);
    const result = await this.#signIns.run(call.signal, work);
    if (result.kind === 'signed-in') this.#verifier.endings.signedIn(result.token);
    return result;
  }

  /**
   * Signs out (section 4.2) and forgets the session, here at once and on every instance, whatever the service answers. A session that has ended already is no error.
   * @throws SessionRejectedError (no token that could be sent), InvalidRequestError (400), AccessDeniedError (403), SessionServiceUnavailableError
   */
  async signOut(token: string, call: CallOptions = {}): Promise<void> {
    const known = this.#verifier.endings.signingOut(this.#tokenIn(token));
    try {
      const session = this.#identify(token, call);
      await known;
      await this.#signOuts.run(call.signal, (deadline) => this.#client.signOut(session, deadline));
    } finally {
      this.#verifier.endings.signedOut(token);
    }
  }

  /**
   * Reads the user's details from the service (section 4.3): always a call of its own.
   * @throws SessionRejectedError, AccessDeniedError, SessionServiceUnavailableError
   */
  async userDetails(token: string, call: CallOptions = {}): Promise<User> {
    call.signal?.throwIfAborted();
    return this.#userOf(this.#verifier.ask(this.#identify(token, call)), call.signal);
  }

  /** @internal Asks the service as for a known session. Never rejects. */
  probe(session: SessionIdentity): Promise<Verdict<User>> {
    return this.#verifier.ask(session, 'known');
  }

  /**
   * Checks a session as the guard does: from memory where it is remembered, else sharing a call with concurrent checks.
   * @throws SessionRejectedError, AccessDeniedError, SessionServiceUnavailableError
   */
  async verify(token: string, call: VerifyOptions = {}): Promise<User> {
    call.signal?.throwIfAborted();
    return this.#userOf(this.#verifier.verify(this.#identify(token, call), call.maxAgeMs), call.signal);
  }

  /** Forgets what is known of a token, here and on every instance, without signing it out. @throws SessionRejectedError when it can't be a token */
  async forget(token: string, call: CallOptions = {}): Promise<void> {
    const forgotten = this.#verifier.endings.forget(this.#tokenIn(token));
    call.signal?.throwIfAborted();
    this.#identify(token, call);
    await unlessAborted(forgotten, call.signal);
  }

  /**
   * How many sessions this instance would answer from memory now: 0 without `cache`, at most `cache.maxEntries`. It looks at each of them,
   * so ask for it when a person looks, not with every request.
   */
  countRemembered(): number {
    return this.#verifier.countRemembered();
  }

  #identify(token: string, { authIv }: CallOptions): SessionIdentity {
    if (!this.#isAuthIv(authIv)) throw new SessionRejectedError();
    return { token: this.#tokenIn(token), authIv };
  }

  #tokenIn(token: unknown): string {
    if (!isHeaderValue(token, this.#settings.maxTokenLength)) throw new SessionRejectedError();
    return token;
  }

  #isAuthIv(authIv: string | undefined): boolean {
    return authIv === undefined || isHeaderValue(authIv, this.#settings.maxTokenLength);
  }

  async #userOf(verdict: Verdict<User> | Promise<Verdict<User>>, signal: AbortSignal | undefined): Promise<User> {
    const settled = await unlessAborted(Promise.resolve(verdict), signal);
    if (settled.kind !== 'accepted') throw errorOf(settled);
    return settled.user;
  }
}

/** A controller may hand on whatever body it got. */
function fieldsOf(credentials: unknown): { readonly username?: unknown; readonly password?: unknown } {
  return typeof credentials === 'object' && credentials !== null ? credentials : {};
}
