import { AFFECTED } from '../contract/causes.js';
import { CALLS, type CallMessage } from '../contract/diagnostics.js';
import { type Unavailable, unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import type { ReadUser, UserRecord } from '../contract/record/user-record.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { type CallOutcome, callOutcomeOf, isExpected } from '../contract/status-outcomes.js';
import {
  API_KEY_HEADER,
  AUTH_IV_HEADER,
  AUTH_TOKEN_HEADER,
  AUTHENTICATION_PATH,
  isHeaderValue,
  MAX_API_KEY_LENGTH,
  USER_DETAILS_PATH,
} from '../contract/wire.js';
import {
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidRequestError,
  SessionServiceUnavailableError,
  TooManyAttemptsError,
} from '../exceptions/session-exceptions.js';
import { type Deadline, inTime } from './deadline.js';
import type { Answer } from './reply.js';
import type { RequestSender } from './request-sender.js';
import {
  outage,
  recordIn,
  type ReplyReader,
  type ReplyReports,
  tokenProblem,
  unusable,
  verdictOf,
  type VerdictSettings,
} from './user-details-verdict.js';

/** Username and password of a sign-in (section 2.3). */
export interface Credentials {
  /** Login name of the user. */
  readonly username: string;
  /** Password of the user. It is sent to the service, and not stored. */
  readonly password: string;
}

/**
 * The application key (section 5.1): 1 to 4096 visible ASCII characters (our decision). Or a function that
 * returns it, called before each call, so that the key can rotate without a restart. If the function throws,
 * or returns no such key in time, the call is unavailable: `api_key`.
 */
export type ApiKey = string | (() => string | Promise<string>);

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

/** Address of the service, the application key, and how replies are read. */
interface ClientSettings extends VerdictSettings {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly http: { readonly maxTokenLength: number };
}

interface Call {
  readonly operation: CallMessage['operation'];
  readonly token?: string;
  readonly authIv: string | undefined;
  readonly deadline: Deadline;
  readonly body?: string;
}

const METHODS = { user_details: 'GET', sign_in: 'POST', sign_out: 'DELETE' } as const;

const NO_API_KEY = unavailable('api_key');

const DENIED_USERS = "; if the service refuses users so, set statusMap: { signIn: { 403: 'denied' } }";

const EFFECT_UNKNOWN = 'The session service did not answer in time; whether it processed the call is unknown';

/**
 * The three operations of the session service, with exactly the headers that the interface lists. Each makes
 * one attempt, and has one outcome.
 */
export class SessionClient<User extends UserRecord> {
  readonly #sender: Pick<RequestSender, 'send'>;
  readonly #settings: ClientSettings;
  readonly #reader: ReplyReader<User>;
  readonly #origin: string;
  readonly #paths: Readonly<Record<CallMessage['operation'], string>>;
  readonly #server: Pick<CallMessage, 'serverAddress' | 'serverPort'>;

  constructor(
    sender: Pick<RequestSender, 'send' | 'renew'>,
    settings: ClientSettings,
    readUser: ReadUser<User>,
    reports: ReplyReports,
  ) {
    const { origin, pathname, protocol, hostname, port } = new URL(settings.baseUrl);
    this.#sender = sender;
    this.#settings = settings;
    this.#reader = { ...settings, readUser, reports, renew: () => sender.renew() };
    this.#origin = origin;
    const basePath = pathname.replace(/\/$/, '');
    const signPath = basePath + AUTHENTICATION_PATH;
    this.#paths = { user_details: basePath + USER_DETAILS_PATH, sign_in: signPath, sign_out: signPath };
    this.#server = {
      serverAddress: hostname,
      serverPort: Number(port) || (protocol === 'https:' ? 443 : 80),
    };
  }

  userDetails({ token, authIv }: SessionIdentity, deadline: Deadline): Promise<Verdict<User>> {
    return this.#call({ operation: 'user_details', token, authIv, deadline }, (answer) =>
      verdictOf(answer, token, this.#reader),
    );
  }

  /**
   * Signs in (section 4.1). @throws CredentialsRejectedError, InvalidRequestError, AccessDeniedError,
   * TooManyAttemptsError or SessionServiceUnavailableError
   */
  signIn(
    { username, password }: Credentials,
    authIv: string | undefined,
    deadline: Deadline,
  ): Promise<SignInResult<User>> {
    const body = JSON.stringify({ username, password });
    return this.#call({ operation: 'sign_in', authIv, deadline, body }, (answer) => this.#signedIn(answer));
  }

  /**
   * Signs out (section 4.2). Any 2xx is success, and so are 401 and 404: the session has already ended.
   * @throws InvalidRequestError, AccessDeniedError or SessionServiceUnavailableError
   */
  signOut({ token, authIv }: SessionIdentity, deadline: Deadline): Promise<void> {
    return this.#call(
      { operation: 'sign_out', token, authIv, deadline },
      (answer) => void this.#accepted('sign_out', answer),
    );
  }

  #call<Result>(call: Call, read: (answer: Answer) => Result): Promise<Result> {
    if (!CALLS.hasSubscribers) return this.#send(call).then(read);
    const { operation } = call;
    const message = { operation, method: METHODS[operation], ...this.#server };
    return published(message, () => this.#send(call), read);
  }

  #send(call: Call, key = this.#settings.apiKey): Promise<Answer> {
    if (typeof key === 'function') return this.#sendWithKeyOf(key, call);
    const { operation, token, authIv, deadline, body } = call;
    const headers: Record<string, string> = {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      [API_KEY_HEADER]: key,
    };
    if (token !== undefined) headers[AUTH_TOKEN_HEADER] = token;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (authIv !== undefined) headers[AUTH_IV_HEADER] = authIv;
    return this.#sender.send({
      method: METHODS[operation],
      origin: this.#origin,
      path: this.#paths[operation],
      headers,
      body: body ?? null,
      deadline,
      freshConnection: operation !== 'user_details',
    });
  }

  async #sendWithKeyOf(keyFunction: Exclude<ApiKey, string>, call: Call): Promise<Answer> {
    const key = await inTime(call.deadline, resolveApiKey(keyFunction));
    if (typeof key === 'string') return this.#send(call, key);
    // No call was sent: the session service is not the one that is too slow.
    return key.reason === 'timeout' ? NO_API_KEY : key;
  }

  #signedIn(answer: Answer): SignInResult<User> {
    const { outcome, reply } = this.#accepted('sign_in', answer);
    if (outcome === 'accepted') return { kind: 'accepted' };
    const user = recordIn('sign_in', reply, this.#reader)?.user;
    const token = user?.auth_token;
    const { maxTokenLength } = this.#settings.http;
    if (user && isHeaderValue(token, maxTokenLength)) return { kind: 'signed-in', user, token };
    if (user) unusable('sign_in', reply, this.#reader.reports, tokenProblem(token, maxTokenLength));
    throw new SessionServiceUnavailableError(unavailable('malformed'));
  }

  /** Returns the reply to a sign-in or a sign-out, and what it means. @throws SessionAuthError */
  #accepted(operation: 'sign_in' | 'sign_out', reply: Answer) {
    if (!('status' in reply))
      throw new SessionServiceUnavailableError(
        reply,
        reply.reason === 'timeout' ? EFFECT_UNKNOWN : undefined,
      );
    const { reports } = this.#reader;
    const { status } = reply;
    const meanings: Readonly<Record<number, CallOutcome>> =
      (operation === 'sign_in' ? this.#settings.statusMap.signIn : undefined) ?? {};
    const mapped = meanings[status];
    const outcome = mapped ?? callOutcomeOf(operation, status);
    if (outcome && !mapped && !isExpected(status) && outcome !== 'limited')
      reports.unlistedStatus(operation, status);
    if (outcome === 'done' || outcome === 'accepted') return { outcome, reply };
    if (outcome === 'invalid') throw new InvalidRequestError();
    if (outcome === 'rejected') throw new CredentialsRejectedError();
    if (outcome === 'denied') {
      if (status === 403 && !mapped) {
        const calls = AFFECTED[operation];
        reports.occurred('access refused', calls, calls, operation === 'sign_in' ? DENIED_USERS : '');
      }
      throw new AccessDeniedError();
    }
    const failure = outage(operation, reply, reports);
    if (outcome === 'limited') throw new TooManyAttemptsError(failure.retryAfterSeconds);
    throw new SessionServiceUnavailableError(failure);
  }
}

/**
 * Makes and publishes a call. `tracePromise` of Node.js adds the result of its promise to the message, so it
 * gets a promise without the result, which contains the user and the token.
 */
async function published<Result>(
  message: CallMessage,
  send: () => Promise<Answer>,
  read: (answer: Answer) => Result,
): Promise<Result> {
  let result: Result | undefined;
  await CALLS.tracePromise(async () => {
    try {
      const answer = await send();
      if ('status' in answer) message.statusCode = answer.status;
      result = read(answer);
      // The result of a check is its verdict.
      const { kind, reason } = Object(result) as Pick<Verdict<unknown>, 'kind'> & {
        reason?: UnavailableReason;
      };
      message.outcome = message.operation === 'user_details' ? kind : 'done';
      if (reason) message.reason = reason;
    } catch (error) {
      message.outcome = 'failed';
      throw error;
    }
  }, message);
  return result as Result;
}

/** Calls a key function. Its error is not propagated. */
async function resolveApiKey(keyFunction: () => string | Promise<string>): Promise<string | Unavailable> {
  try {
    const key: unknown = await keyFunction();
    return isHeaderValue(key, MAX_API_KEY_LENGTH) ? key : NO_API_KEY;
  } catch {
    return NO_API_KEY;
  }
}
