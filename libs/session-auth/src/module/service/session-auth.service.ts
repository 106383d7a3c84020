import { abortable, type Deadline, type Deadlines, holdProcess } from '../../client/deadline.js';
import type { Credentials, SessionClient, SignInResult } from '../../client/session-client.js';
import { denialOfVerdict, sessionException } from '../../guard/denial.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import { rejectOwnProvider } from '../../contract/errors.js';
import type { UserRecord } from '../../contract/record/user-record.js';
import { unavailable, type Verdict } from '../../contract/outcome.js';
import { SessionServiceUnavailableError } from '../../exceptions/session-exceptions.js';
import type { CurrentUserRecord, PresentedSession } from '../../guard/current-user.decorator.js';
import type { Revocation } from '../../verifier/revocations.js';
import type { SessionVerifier } from '../../verifier/session-verifier.js';
import type { SessionAuthSettings } from '../settings/settings.js';
import { type CallOptions, ServiceInput, type VerifyOptions } from './service-input.js';

type ServiceSettings = Pick<SessionAuthSettings, 'signInTimeoutMs' | 'signOutTimeoutMs' | 'maxSignIns'> & {
  readonly http: Pick<SessionAuthSettings['http'], 'maxTokenLength'>;
};

/** Limits one kind of calls: how many are in flight, and how long each takes. Calls are never queued. */
class CallLimit {
  readonly #deadlines: Deadlines;
  readonly #maxInFlight: number;
  readonly #timeoutMs: number;
  #inFlight = 0;

  constructor(deadlines: Deadlines, maxInFlight: number, timeoutMs: number) {
    this.#deadlines = deadlines;
    this.#maxInFlight = maxInFlight;
    this.#timeoutMs = timeoutMs;
  }

  async run<Result>(
    signal: AbortSignal | undefined,
    work: (deadline: Deadline) => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#inFlight >= this.#maxInFlight) throw new SessionServiceUnavailableError(unavailable('busy', 1));
    const deadline = this.#deadlines.start(this.#timeoutMs);
    const abort = (): void => deadline.end('timeout');
    signal?.addEventListener('abort', abort);
    this.#inFlight += 1;
    try {
      return await abortable(work(deadline), signal);
    } finally {
      this.#inFlight -= 1;
      signal?.removeEventListener('abort', abort);
      deadline.clear();
    }
  }
}

/** Called when a sign-in or a sign-out ends, with its error if it failed. */
export type CallReport = (operation: 'sign_in' | 'sign_out', error?: unknown) => void;

/**
 * The typed operations of the session service. A session is the value of `@CurrentSession()`, or a token with
 * `authIv` of the call. Every error is a `SessionAuthError`, and the exception of Nest for its status: if a
 * controller does not catch it, the response has that status.
 *
 * @example
 * ```ts
 * const sessions = app.get(SessionAuthService); // or inject it
 * const result = await sessions.signIn({ username: 'ann', password: 'secret' });
 * if (result.kind === 'signed-in') await sessions.signOut(result.token);
 * ```
 */
export class SessionAuthService<User extends UserRecord = CurrentUserRecord> {
  readonly #client: SessionClient<User>;
  readonly #verifier: SessionVerifier<User>;
  readonly #input: ServiceInput;
  readonly #signIns: CallLimit;
  /** Separate, so that a flood of sign-ins never blocks a sign-out. */
  readonly #signOuts: CallLimit;
  readonly #report: CallReport;

  /** @internal Created by Nest. */
  constructor(
    client: SessionClient<User>,
    verifier: SessionVerifier<User>,
    deadlines: Deadlines,
    settings: ServiceSettings,
    report: CallReport = () => undefined,
  ) {
    if ((settings as unknown) === undefined) rejectOwnProvider('SessionAuthService');
    this.#client = client;
    this.#verifier = verifier;
    this.#input = new ServiceInput(settings.http.maxTokenLength);
    this.#report = report;
    const { maxSignIns, signInTimeoutMs, signOutTimeoutMs } = settings;
    this.#signIns = new CallLimit(deadlines, maxSignIns, signInTimeoutMs);
    this.#signOuts = new CallLimit(deadlines, maxSignIns, signOutTimeoutMs);
  }

  /**
   * Signs in (section 4.1). A 202 resolves to `accepted`, without user and token. Never retried. Rejects with
   * `busy` at once if `maxSignIns` are in flight.
   * @throws CredentialsRejectedError (401, 404), InvalidRequestError (400), AccessDeniedError (403),
   * TooManyAttemptsError (429), SessionServiceUnavailableError
   */
  signIn(credentials: Credentials, call: CallOptions = {}): Promise<SignInResult<User>> {
    return holdProcess(async () => {
      const input = this.#input.credentials(credentials, call.authIv);
      const work = (deadline: Deadline) => this.#client.signIn(input, call.authIv, deadline);
      const result = await this.#reported('sign_in', this.#signIns.run(call.signal, work));
      if (result.kind === 'signed-in') this.#verifier.revoker.signedIn(result.token, result.user);
      return result;
    });
  }

  /**
   * Signs out (section 4.2). Evicts the session here at once, and on every instance, whatever the service
   * answers. A session that has already ended is not an error.
   * @throws SessionRejectedError (the token can't be sent), InvalidRequestError (400), AccessDeniedError
   * (403), SessionServiceUnavailableError
   */
  signOut(session: string | PresentedSession, call: CallOptions = {}): Promise<void> {
    return holdProcess(async () => {
      const token = this.#input.token(session);
      const known = this.#verifier.revoker.signingOut(token);
      try {
        const identity = this.#input.identity(session, call);
        await known;
        const work = (deadline: Deadline) => this.#client.signOut(identity, deadline);
        await this.#reported('sign_out', this.#signOuts.run(call.signal, work));
      } finally {
        this.#verifier.revoker.signedOut(token);
      }
    });
  }

  /**
   * Reads the user's details from the service (section 4.3), always by a call that no other check shares.
   * @throws SessionRejectedError, AccessDeniedError, SessionServiceUnavailableError
   */
  userDetails(session: string | PresentedSession, call: CallOptions = {}): Promise<User> {
    return this.#checked(session, call, (identity) => this.#verifier.callService(identity));
  }

  /** @internal Checks a session by a call in the lane of known sessions. Never rejects. */
  callAsKnown(session: SessionIdentity): Promise<Verdict<User>> {
    return holdProcess(() => this.#verifier.callService(session, 'known'));
  }

  /**
   * Checks a session as the guard does: from the cache, or by a call that concurrent checks share.
   * @throws SessionRejectedError, AccessDeniedError, SessionServiceUnavailableError
   */
  verify(session: string | PresentedSession, call: VerifyOptions = {}): Promise<User> {
    return this.#checked(session, call, (identity) => this.#verifier.verify(identity, call.maxAgeMs));
  }

  /**
   * Evicts a session, here and on every instance, without signing it out. @throws SessionRejectedError if the
   * token can't be sent
   */
  forget(session: string | PresentedSession, call: CallOptions = {}): Promise<void> {
    return holdProcess(async () => {
      const evicted = this.#verifier.revoker.evict(this.#input.token(session));
      call.signal?.throwIfAborted();
      this.#input.identity(session, call);
      await abortable(evicted, call.signal);
    });
  }

  /**
   * Ends nothing at the session service: evicts every cached session of a user, here at once and on every
   * instance, and closes the sockets of that user, for sessions that ended elsewhere. One that the service
   * still accepts is checked again at its next request. `username` is the `username` of the record, 1 to 1024
   * characters (our decision). Resolves after the first attempt to reach the other instances; while the store
   * is unavailable, the attempt is repeated.
   * @throws InvalidRequestError if `username` is not such a string
   */
  async forgetUser(username: string): Promise<void> {
    await this.#forget({ kind: 'userRevoked', username: this.#input.username(username) });
  }

  /**
   * Ends nothing at the session service: evicts every cached session, here at once and on every instance, and
   * closes all sockets. See {@link forgetUser}.
   */
  forgetAll(): Promise<void> {
    return this.#forget({ kind: 'allRevoked' });
  }

  /**
   * Returns the number of cached sessions: 0 without `cache`, at most `cache.maxEntries`. Iterates over the
   * cache: not for each request.
   */
  countCached(): number {
    return this.#verifier.countCached();
  }

  #forget(revocation: Revocation): Promise<void> {
    return holdProcess(() => this.#verifier.revoker.apply(revocation));
  }

  async #reported<Result>(operation: 'sign_in' | 'sign_out', pending: Promise<Result>): Promise<Result> {
    try {
      const result = await pending;
      this.#report(operation);
      return result;
    } catch (error) {
      this.#report(operation, error);
      throw error;
    }
  }

  #checked(
    session: string | PresentedSession,
    call: CallOptions,
    check: (identity: SessionIdentity) => Verdict<User> | Promise<Verdict<User>>,
  ): Promise<User> {
    return holdProcess(async () => {
      call.signal?.throwIfAborted();
      const checking = Promise.resolve(check(this.#input.identity(session, call)));
      const verdict = await abortable(checking, call.signal);
      if (verdict.kind !== 'authenticated') throw sessionException(denialOfVerdict(verdict));
      return verdict.user;
    });
  }
}
