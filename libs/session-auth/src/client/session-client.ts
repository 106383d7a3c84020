import { AFFECTED } from '../contract/causes.js';
import { CALLS, type CallMessage } from '../contract/diagnostics.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { callOutcomeOf, isListed } from '../contract/status-outcomes.js';
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
import type { ServiceRequest } from './connections.js';
import { type Deadline, inTime } from './deadline.js';
import type { NoReply, Reply } from './reply.js';
import type { RequestSender } from './request-sender.js';
import {
  outage,
  readRecord,
  type ReadUser,
  type ReplyReports,
  UserDetailsVerdicts,
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
 * or returns no such key in time, the call is unavailable: `api_key` or `timeout`.
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
  /** Root of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  /** Name of the authority, for diagnostics. @default 'default' */
  readonly authority?: string;
  readonly http: { readonly maxTokenLength: number };
}

/** The particulars of one call. */
interface Call {
  readonly operation: CallMessage['operation'];
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly deadline: Deadline;
}

const METHODS = { user_details: 'GET', sign_in: 'POST', sign_out: 'DELETE' } as const;

const ACCEPT: readonly string[] = ['Accept', 'application/json', 'Accept-Encoding', 'identity'];

const NO_API_KEY: NoReply = { noReply: 'api_key' };

/**
 * The three operations of the session service, with exactly the headers that the interface lists. Each makes
 * one attempt, and has one outcome.
 */
export class SessionClient<User extends UserRecord> {
  readonly #sender: Pick<RequestSender, 'send'>;
  readonly #settings: ClientSettings;
  readonly #readUser: ReadUser<User>;
  readonly #verdicts: UserDetailsVerdicts<User>;
  readonly #reports: ReplyReports;
  readonly #origin: string;
  readonly #authenticationPath: string;
  readonly #userDetailsPath: string;
  readonly #server: Pick<CallMessage, 'authority' | 'serverAddress' | 'serverPort'>;

  constructor(
    sender: Pick<RequestSender, 'send' | 'renew'>,
    settings: ClientSettings,
    readUser: ReadUser<User>,
    reports: ReplyReports,
  ) {
    const { origin, pathname, protocol, hostname, port } = new URL(settings.baseUrl);
    const basePath = pathname.replace(/\/$/, '');
    this.#sender = sender;
    this.#settings = settings;
    this.#readUser = readUser;
    this.#reports = reports;
    this.#verdicts = new UserDetailsVerdicts(readUser, settings, reports, () => sender.renew());
    this.#origin = origin;
    this.#authenticationPath = `${basePath}${AUTHENTICATION_PATH}`;
    this.#userDetailsPath = `${basePath}${USER_DETAILS_PATH}`;
    this.#server = {
      authority: settings.authority ?? DEFAULT_AUTHORITY,
      serverAddress: hostname,
      serverPort: Number(port) || (protocol === 'https:' ? 443 : 80),
    };
  }

  userDetails(session: SessionIdentity, deadline: Deadline): Promise<Verdict<User>> {
    return this.#call(
      { operation: 'user_details', headers: sessionHeaders(session), body: null, deadline },
      (answer) => this.#verdicts.of(answer, session.token),
      endOfCheck,
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
    const headers = ['Content-Type', 'application/json', ...ivHeader(authIv)];
    const body = JSON.stringify({ username, password });
    return this.#call({ operation: 'sign_in', headers, body, deadline }, (answer) => this.#signedIn(answer));
  }

  /**
   * Signs out (section 4.2). Any 2xx is success, and so are 401 and 404: the session has already ended.
   * @throws InvalidRequestError, AccessDeniedError or SessionServiceUnavailableError
   */
  signOut(session: SessionIdentity, deadline: Deadline): Promise<void> {
    return this.#call(
      { operation: 'sign_out', headers: sessionHeaders(session), body: null, deadline },
      (answer) => void this.#accepted('sign_out', answer),
    );
  }

  #call<Result>(
    call: Call,
    read: (answer: Reply | NoReply) => Result,
    endOf?: (result: Result) => CallEnd,
  ): Promise<Result> {
    return CALLS.hasSubscribers ? this.#published(call, read, endOf) : this.#send(call).then(read);
  }

  /**
   * Makes and publishes a call. `tracePromise` of Node.js adds the result of its promise to the message, so it
   * gets a promise without the result, which contains the user and the token.
   */
  async #published<Result>(
    call: Call,
    read: (answer: Reply | NoReply) => Result,
    endOf: (result: Result) => CallEnd = () => ({ outcome: 'done' }),
  ): Promise<Result> {
    const { operation } = call;
    const message: CallMessage = { operation, method: METHODS[operation], ...this.#server };
    let result: Result | undefined;
    await CALLS.tracePromise(async () => {
      try {
        const answer = await this.#send(call);
        if ('status' in answer) message.statusCode = answer.status;
        result = read(answer);
        Object.assign(message, endOf(result));
      } catch (error) {
        message.outcome = 'failed';
        throw error;
      }
    }, message);
    return result as Result;
  }

  #send(call: Call): Promise<Reply | NoReply> {
    const { apiKey } = this.#settings;
    if (typeof apiKey === 'string') return this.#sender.send(this.#requestWith(apiKey, call));
    const answer = resolveApiKey(apiKey).then((key) =>
      key === undefined ? NO_API_KEY : this.#sender.send(this.#requestWith(key, call)),
    );
    return inTime(call.deadline, answer);
  }

  #requestWith(apiKey: string, { operation, headers, body, deadline }: Call): ServiceRequest {
    const isCheck = operation === 'user_details';
    return {
      method: METHODS[operation],
      origin: this.#origin,
      path: isCheck ? this.#userDetailsPath : this.#authenticationPath,
      headers: [...ACCEPT, API_KEY_HEADER, apiKey, ...headers],
      body,
      deadline,
      freshConnection: !isCheck,
    };
  }

  #signedIn(answer: Reply | NoReply): SignInResult<User> {
    const { outcome, reply } = this.#accepted('sign_in', answer);
    if (outcome === 'accepted') return { kind: 'accepted' };
    const unusable = (): void =>
      this.#reports.occurred('unusable reply', AFFECTED.sign_in, 'a user record and a token');
    const user = readRecord(reply, this.#readUser, unusable)?.user;
    const token = user?.auth_token;
    if (user && isHeaderValue(token, this.#settings.http.maxTokenLength))
      return { kind: 'signed-in', user, token };
    if (user) unusable();
    throw new SessionServiceUnavailableError(unavailable('malformed'));
  }

  /** Returns the reply to a sign-in or a sign-out, and what it means. @throws SessionAuthError */
  #accepted(operation: 'sign_in' | 'sign_out', answer: Reply | NoReply) {
    const reply = replyIn(answer);
    const { status } = reply;
    const outcome = callOutcomeOf(operation, status);
    if (outcome && !isListed(operation, status) && outcome !== 'limited')
      this.#reports.unlistedStatus(operation, status);
    if (outcome === 'done' || outcome === 'accepted') return { outcome, reply };
    if (outcome === 'invalid') throw new InvalidRequestError();
    if (outcome === 'rejected') throw new CredentialsRejectedError();
    if (outcome === 'denied') {
      if (status === 403) this.#reports.occurred('access refused', AFFECTED[operation]);
      throw new AccessDeniedError();
    }
    const failure = outage(reply);
    if (outcome === 'limited') throw new TooManyAttemptsError(failure.retryAfterSeconds);
    const calls = AFFECTED[operation];
    if (failure.reason === 'unexpected_status')
      this.#reports.occurred('unexpected reply', calls, String(status), calls);
    throw new SessionServiceUnavailableError(failure);
  }
}

/** Fields of a message that are set when its call ends. */
type CallEnd = Pick<CallMessage, 'outcome' | 'reason'>;

function endOfCheck(verdict: Verdict<unknown>): CallEnd {
  return { outcome: verdict.kind, ...(verdict.kind === 'unavailable' && { reason: verdict.reason }) };
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

function sessionHeaders({ token, authIv }: SessionIdentity): readonly string[] {
  return [AUTH_TOKEN_HEADER, token, ...ivHeader(authIv)];
}

function ivHeader(authIv: string | undefined): readonly string[] {
  return authIv === undefined ? [] : [AUTH_IV_HEADER, authIv];
}

/**
 * Calls a key function. Resolves with `undefined` if it throws or returns no valid key; its error is not
 * propagated.
 */
async function resolveApiKey(keyFunction: () => string | Promise<string>): Promise<string | undefined> {
  try {
    const key: unknown = await keyFunction();
    return isHeaderValue(key, MAX_API_KEY_LENGTH) ? key : undefined;
  } catch {
    return undefined;
  }
}
