import type { SessionIdentity } from '../contract/session-identity.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import {
  API_KEY_HEADER,
  AUTH_IV_HEADER,
  AUTH_TOKEN_HEADER,
  AUTHENTICATION_PATH,
  isHeaderValue,
  MAX_API_KEY_LENGTH,
  USER_DETAILS_PATH,
} from '../contract/wire.js';
import { type Deadline, noReplyAt } from './deadline.js';
import type { NoReply, Reply } from './reply.js';
import type { RequestSender } from './request-sender.js';
import type { ServiceRequest } from './service-request.js';
import type { CallStart } from './traced-call.js';

/** Username and password of a sign-in (section 2.3). */
export interface Credentials {
  /** Login name of the user. */
  readonly username: string;
  /** Password of the user. It is sent to the service, and not stored. */
  readonly password: string;
}

/** Address of the service, and the application key. */
interface RequestSettings {
  /** Root of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  /** Name of the registration, for diagnostics. @default 'default' */
  readonly authority?: string;
}

/** A request without its key. */
type KeylessRequest = Omit<ServiceRequest, 'origin'>;

const METHODS = { user_details: 'GET', sign_in: 'POST', sign_out: 'DELETE' } as const;

const ACCEPT: readonly string[] = ['Accept', 'application/json', 'Accept-Encoding', 'identity'];

/**
 * Sends the three requests of the interface, with exactly the headers that the interface lists. No method
 * rejects.
 */
export class SessionRequests {
  readonly #sender: Pick<RequestSender, 'send'>;
  readonly #apiKey: ApiKey;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #userDetailsPath: string;
  readonly #server: Omit<CallStart, 'operation' | 'method'>;

  constructor(
    sender: Pick<RequestSender, 'send'>,
    { baseUrl, apiKey, authority = DEFAULT_AUTHORITY }: RequestSettings,
  ) {
    const { origin, pathname, protocol, hostname, port } = new URL(baseUrl);
    this.#sender = sender;
    this.#apiKey = apiKey;
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, '');
    this.#userDetailsPath = `${this.#basePath}${USER_DETAILS_PATH}`;
    this.#server = {
      authority,
      serverAddress: hostname,
      serverPort: Number(port) || (protocol === 'https:' ? 443 : 80),
    };
  }

  /** Returns the fields of the diagnostics message of a call that are set at its start. */
  describe(operation: CallStart['operation']): CallStart {
    return { operation, method: METHODS[operation], ...this.#server };
  }

  /** Sends GET user_details (section 4.3). */
  getUserDetails(session: SessionIdentity, deadline: Deadline): Promise<Reply | NoReply> {
    return this.#send({
      method: METHODS.user_details,
      path: this.#userDetailsPath,
      headers: sessionHeaders(session),
      body: null,
      deadline,
      freshConnection: false,
    });
  }

  /** Sends POST authentication: signs in (section 4.1). */
  postAuthentication(
    { username, password }: Credentials,
    authIv: string | undefined,
    deadline: Deadline,
  ): Promise<Reply | NoReply> {
    const path = `${this.#basePath}${AUTHENTICATION_PATH}`;
    const headers = ['Content-Type', 'application/json', ...ivHeader(authIv)];
    return this.#send({
      method: METHODS.sign_in,
      path,
      headers,
      body: JSON.stringify({ username, password }),
      deadline,
      freshConnection: true,
    });
  }

  /** Sends DELETE authentication: signs out (section 4.2). */
  deleteAuthentication(session: SessionIdentity, deadline: Deadline): Promise<Reply | NoReply> {
    const path = `${this.#basePath}${AUTHENTICATION_PATH}`;
    return this.#send({
      method: METHODS.sign_out,
      path,
      headers: sessionHeaders(session),
      body: null,
      deadline,
      freshConnection: true,
    });
  }

  #send(request: KeylessRequest): Promise<Reply | NoReply> {
    return typeof this.#apiKey === 'string'
      ? this.#sendWith(this.#apiKey, request)
      : this.#resolveKeyAndSend(this.#apiKey, request);
  }

  #sendWith(apiKey: string, request: KeylessRequest): Promise<Reply | NoReply> {
    const { method, path, body, deadline, freshConnection } = request;
    const headers = [...ACCEPT, API_KEY_HEADER, apiKey, ...request.headers];
    return this.#sender.send({
      method,
      origin: this.#origin,
      path,
      headers,
      body,
      deadline,
      freshConnection,
    });
  }

  /** Waits for the key until the deadline at the latest. */
  #resolveKeyAndSend(
    keyFunction: Exclude<ApiKey, string>,
    request: KeylessRequest,
  ): Promise<Reply | NoReply> {
    return new Promise((resolve) => {
      const { deadline } = request;
      deadline.onEnd((end) => resolve(noReplyAt(end)));
      void resolveApiKey(keyFunction).then((apiKey) => {
        if (apiKey === undefined) resolve({ noReply: 'api_key' });
        else resolve(this.#sendWith(apiKey, request));
      });
    });
  }
}

function sessionHeaders({ token, authIv }: SessionIdentity): readonly string[] {
  return authIv === undefined ? [AUTH_TOKEN_HEADER, token] : [AUTH_TOKEN_HEADER, token, ...ivHeader(authIv)];
}

function ivHeader(authIv: string | undefined): readonly string[] {
  return authIv === undefined ? [] : [AUTH_IV_HEADER, authIv];
}

/**
 * The application key (section 5.1): 1 to 4096 visible ASCII characters (our decision). Or a function that
 * returns it, called before each call, so that the key can rotate without a restart. If the function throws,
 * or returns no such key in time, the call is unavailable: `api_key` or `timeout`.
 */
export type ApiKey = string | (() => string | Promise<string>);

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
