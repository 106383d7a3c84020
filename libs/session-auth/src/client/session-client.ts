import { CALLS, type CallMessage } from '../contract/diagnostics.js';
import type { SessionAuthError } from '../contract/errors.js';
import { isHeaderValue } from '../contract/wire.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import {
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidRequestError,
  SessionServiceUnavailableError,
  TooManyAttemptsError,
} from '../exceptions/session-exceptions.js';
import type { Deadline } from './deadline.js';
import type { NoReply, Reply } from './reply.js';
import type { Credentials, SessionRequests } from './session-requests.js';
import { recordStatus, traced } from './traced-call.js';
import { outage, readRecord, type ReadUser, type UserDetailsVerdicts } from './user-details-verdict.js';

/** Result of a sign-in: a session, or a 202, which has no session and no documented meaning. */
export type SignInResult<User> =
  | {
      /** The service answered 200 with a user and a token. */
      readonly kind: 'signed-in';
      /** The signed-in user. */
      readonly user: User;
      /**
       * Token of the session, to present with later requests: visible ASCII, at most `http.maxTokenLength`
       * bytes.
       */
      readonly token: string;
    }
  | {
      /** The service answered 202. */
      readonly kind: 'accepted';
    };

/** The three operations of the session service. Each makes one attempt, and has one outcome. */
export class SessionClient<User extends UserRecord> {
  readonly #requests: SessionRequests;
  readonly #verdicts: UserDetailsVerdicts<User>;
  readonly #readUser: ReadUser<User>;
  readonly #maxTokenLength: number;

  constructor(
    requests: SessionRequests,
    verdicts: UserDetailsVerdicts<User>,
    readUser: ReadUser<User>,
    maxTokenLength: number,
  ) {
    this.#requests = requests;
    this.#verdicts = verdicts;
    this.#readUser = readUser;
    this.#maxTokenLength = maxTokenLength;
  }

  /** Requests the user of a session. Never rejects. */
  userDetails(session: SessionIdentity, deadline: Deadline): Promise<Verdict<User>> {
    if (!CALLS.hasSubscribers) {
      return this.#requests
        .getUserDetails(session, deadline)
        .then((answer) => this.#verdicts.of(answer, session.token));
    }
    const call = (message?: CallMessage): Promise<Verdict<User>> =>
      this.#requests
        .getUserDetails(session, deadline)
        .then((answer) => this.#verdicts.of(recordStatus(answer, message), session.token));
    return traced(() => this.#requests.describe('user_details'), call, endOf);
  }

  /**
   * Signs in. @throws CredentialsRejectedError, InvalidRequestError, AccessDeniedError, TooManyAttemptsError
   * or SessionServiceUnavailableError
   */
  signIn(
    credentials: Credentials,
    authIv: string | undefined,
    deadline: Deadline,
  ): Promise<SignInResult<User>> {
    return traced(
      () => this.#requests.describe('sign_in'),
      async (message) =>
        this.#signedIn(
          replyIn(
            recordStatus(await this.#requests.postAuthentication(credentials, authIv, deadline), message),
          ),
        ),
    );
  }

  /**
   * Signs out. 401 and 404 count as success: the session has already ended.
   * @throws InvalidRequestError, AccessDeniedError or SessionServiceUnavailableError
   */
  signOut(session: SessionIdentity, deadline: Deadline): Promise<void> {
    return traced(
      () => this.#requests.describe('sign_out'),
      async (message) =>
        signedOut(
          replyIn(recordStatus(await this.#requests.deleteAuthentication(session, deadline), message)),
        ),
    );
  }

  #signedIn(reply: Reply): SignInResult<User> {
    if (reply.status === 202) return { kind: 'accepted' };
    if (reply.status === 401 || reply.status === 404) throw new CredentialsRejectedError();
    if (reply.status === 429) throw new TooManyAttemptsError(outage(reply).retryAfterSeconds);
    if (reply.status !== 200) throw refusal(reply);
    const user = readRecord(reply, this.#readUser)?.user;
    const token = user?.auth_token;
    if (!user || !isHeaderValue(token, this.#maxTokenLength))
      throw new SessionServiceUnavailableError(unavailable('malformed'));
    return { kind: 'signed-in', user, token };
  }
}

function signedOut(reply: Reply): void {
  if (reply.status !== 200 && reply.status !== 401 && reply.status !== 404) throw refusal(reply);
}

function endOf(verdict: Verdict<unknown>): Pick<CallMessage, 'outcome' | 'reason'> {
  return { outcome: verdict.kind, ...(verdict.kind === 'unavailable' && { reason: verdict.reason }) };
}

function refusal(reply: Reply): SessionAuthError {
  if (reply.status === 400) return new InvalidRequestError();
  if (reply.status === 403) return new AccessDeniedError();
  return new SessionServiceUnavailableError(outage(reply));
}

/**
 * Returns the reply. After a timeout, the service may still have processed the request. @throws
 * SessionServiceUnavailableError without a reply
 */
function replyIn(outcome: Reply | NoReply): Reply {
  if (!('noReply' in outcome)) return outcome;
  const failure = unavailable(outcome.noReply);
  if (failure.reason !== 'timeout') throw new SessionServiceUnavailableError(failure);
  throw new SessionServiceUnavailableError(
    failure,
    'The session service did not answer in time; whether it processed the call is unknown',
  );
}
