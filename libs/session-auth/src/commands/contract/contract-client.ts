import { API_KEY_HEADER, AUTH_IV_HEADER, AUTH_TOKEN_HEADER, AUTHENTICATION_PATH, USER_DETAILS_PATH } from '../../contract/wire.js';
import { type Answer, INTERRUPTED, type ReplyAnswer, tokenIn } from '../calls/answer.js';
import { type Call, exchange } from '../calls/exchange.js';
import { type OpenSession, OpenSessions } from '../calls/open-sessions.js';
import { Complaint, NoReply } from './complaint.js';
import { expectRefusal, expectStatus, expectToken } from './expectations.js';

/** The credentials of a user. */
export interface Account {
  readonly username: string;
  readonly password: string;
}

/** The users that may be signed in. */
export interface ContractUsers {
  readonly user?: Account | undefined;
  /** Further users. */
  readonly others?: readonly Account[];
  /** A user whose sign-in answers 202. */
  readonly pending?: Account | undefined;
}

/** Settings of a client. */
export interface ContractClientSettings {
  /** Root of the service, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly interrupted?: AbortSignal;
  readonly users: ContractUsers;
}

type Headers = Readonly<Record<string, string>>;

/** A request of a row. */
export interface RowRequest {
  readonly method: Call['method'];
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: string;
}

/** The calls of one row. Knows the sessions that they opened. */
export class ContractClient {
  /** Every reply, in order. */
  readonly replies: ReplyAnswer[] = [];
  /** Statuses of the refusals that were expected, in order. */
  readonly refusals: number[] = [];
  /** How many sessions could not be signed out. */
  sessionsLeftOpen = 0;
  readonly #settings: ContractClientSettings;
  readonly #sessions = new OpenSessions();
  readonly #opened = new Map<string, OpenSession>();

  constructor(settings: ContractClientSettings) {
    this.#settings = settings;
  }

  get apiKey(): string {
    return this.#settings.apiKey;
  }

  get user(): Account {
    if (!this.#settings.users.user) throw new Complaint('This row needs a user.');
    return this.#settings.users.user;
  }

  get others(): readonly Account[] {
    return this.#settings.users.others ?? [];
  }

  get pending(): Account {
    if (!this.#settings.users.pending) throw new Complaint('This row needs a user whose sign-in answers 202.');
    return this.#settings.users.pending;
  }

  /** Sends a request with no header but `Accept` and those given. @throws NoReply */
  async send({ method, path, headers = {}, body }: RowRequest): Promise<ReplyAnswer> {
    const { interrupted, timeoutMs } = this.#settings;
    const opensSession = method === 'POST';
    if (interrupted?.aborted) throw new NoReply({ kind: 'failure', code: INTERRUPTED, totalMs: 0, reused: false });
    // A sign-in is not interrupted once sent: its reply holds the token that the session must be ended with.
    const signal = opensSession || !interrupted ? {} : { signal: interrupted };
    const answer = await this.#exchange({ method, path, headers, timeoutMs, ...signal, ...(body !== undefined && { body }) });
    if (answer.kind === 'failure') throw new NoReply(answer, opensSession);
    this.replies.push(answer);
    const token = opensSession && answer.status < 300 ? tokenIn(answer) : undefined;
    if (token !== undefined) this.#opened.set(token, this.#sessions.add(token, headers[AUTH_IV_HEADER]));
    return answer;
  }

  /** Sends a request with the application key. */
  call({ headers, ...request }: RowRequest): Promise<ReplyAnswer> {
    return this.send({ ...request, headers: { [API_KEY_HEADER]: this.apiKey, ...headers } });
  }

  /** Sends a body to the sign-in. */
  post(body: string | undefined, headers: Headers = {}, path = AUTHENTICATION_PATH): Promise<ReplyAnswer> {
    const type = { 'Content-Type': 'application/json', ...headers };
    return this.call({ method: 'POST', path, headers: type, ...(body !== undefined && { body }) });
  }

  signIn(account: Account, headers: Headers = {}, path?: string): Promise<ReplyAnswer> {
    return this.post(JSON.stringify(account), headers, path);
  }

  /** Opens a session. Returns its token. Other rows check the record. @throws Complaint if there is no token */
  async openSession(headers: Headers = {}): Promise<string> {
    const reply = await this.signIn(this.user, headers);
    expectStatus(reply, [200]);
    return expectToken({ auth_token: tokenIn(reply) });
  }

  userDetails(token: string, headers: Headers = {}, path = USER_DETAILS_PATH): Promise<ReplyAnswer> {
    return this.call({ method: 'GET', path, headers: { [AUTH_TOKEN_HEADER]: token, ...headers } });
  }

  async signOut(token: string, headers: Headers = {}, path = AUTHENTICATION_PATH): Promise<ReplyAnswer> {
    const reply = await this.call({ method: 'DELETE', path, headers: { [AUTH_TOKEN_HEADER]: token, ...headers } });
    const session = this.#opened.get(token);
    if (reply.status === 200 && session) this.#sessions.ended(session);
    return reply;
  }

  /** @throws Complaint if the reply is not one of the documented refusals, with an empty body */
  expectRefusal(reply: ReplyAnswer): void {
    this.refusals.push(reply.status);
    expectRefusal(reply);
  }

  /** Signs out every session that the row opened, also after an interruption. */
  async endSessions(): Promise<void> {
    const { timeoutMs } = this.#settings;
    this.sessionsLeftOpen += await this.#sessions.endAll((token, authIv) => {
      const iv = authIv === undefined ? undefined : { [AUTH_IV_HEADER]: authIv };
      const headers = { [API_KEY_HEADER]: this.apiKey, [AUTH_TOKEN_HEADER]: token, ...iv };
      return this.#exchange({ method: 'DELETE', path: AUTHENTICATION_PATH, headers, timeoutMs });
    });
  }

  #exchange({ path, headers, ...call }: Omit<Call, 'url'> & { readonly path: string }): Promise<Answer> {
    const url = new URL(`${this.#settings.url}${path}`);
    return exchange({ ...call, url, headers: { Accept: 'application/json', 'Accept-Encoding': 'identity', ...headers } });
  }
}
