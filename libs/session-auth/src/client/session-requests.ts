import type { SessionIdentity } from '../contract/session-identity.js';
import {
  API_KEY_HEADER,
  AUTH_IV_HEADER,
  AUTH_TOKEN_HEADER,
  AUTHENTICATION_PATH,
  isHeaderValue,
  USER_DETAILS_PATH,
} from '../contract/wire.js';
import { type Deadline, noReplyAt } from './deadline.js';
import type { NoReply, Reply } from './http/reply.js';
import type { SessionHttpService } from './http/session-http.service.js';
import type { SessionRequest } from './http/session-request.js';
import type { CallStart } from './traced-call.js';

/** Username and password of a sign-in (section 2.3). */
export interface Credentials {
  /** Login name of the user. */
  readonly username: string;
  /** Password of the user. It is sent to the service, and kept nowhere. */
  readonly password: string;
}

/** Where the service is, and the key that this application shows it. */
export interface WireSettings {
  /** Root of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
}

/** A request that lacks nothing but the key. */
type KeylessRequest = Omit<SessionRequest, 'origin'>;

const METHODS = { user_details: 'GET', sign_in: 'POST', sign_out: 'DELETE' } as const;

const ACCEPT: readonly string[] = ['Accept', 'application/json', 'Accept-Encoding', 'identity'];

/** The three requests of the interface, each with the headers that the interface lists and no others. None of them rejects. */
export class SessionWire {
  readonly #http: SessionHttpService;
  readonly #apiKey: ApiKey;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #server: Pick<CallStart, 'serverAddress' | 'serverPort'>;

  constructor(http: SessionHttpService, { baseUrl, apiKey }: WireSettings) {
    const { origin, pathname, protocol, hostname, port } = new URL(baseUrl);
    this.#http = http;
    this.#apiKey = apiKey;
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, '');
    this.#server = { serverAddress: hostname, serverPort: Number(port) || (protocol === 'https:' ? 443 : 80) };
  }

  /** What may be told of a request before it is made. */
  describe(operation: CallStart['operation']): CallStart {
    return { operation, method: METHODS[operation], ...this.#server };
  }

  /** GET user_details (section 4.3). */
  getUserDetails(session: SessionIdentity, deadline: Deadline): Promise<Reply | NoReply> {
    const path = `${this.#basePath}${USER_DETAILS_PATH}`;
    return this.#send({
      method: METHODS.user_details,
      path,
      headers: sessionHeaders(session),
      body: null,
      deadline,
      freshConnection: false,
    });
  }

  /** POST authentication: sign in (section 4.1). */
  postAuthentication({ username, password }: Credentials, authIv: string | undefined, deadline: Deadline): Promise<Reply | NoReply> {
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

  /** DELETE authentication: sign out (section 4.2). */
  deleteAuthentication(session: SessionIdentity, deadline: Deadline): Promise<Reply | NoReply> {
    const path = `${this.#basePath}${AUTHENTICATION_PATH}`;
    return this.#send({ method: METHODS.sign_out, path, headers: sessionHeaders(session), body: null, deadline, freshConnection: true });
  }

  #send(request: KeylessRequest): Promise<Reply | NoReply> {
    return typeof this.#apiKey === 'string' ? this.#sendWith(this.#apiKey, request) : this.#askAndSend(this.#apiKey, request);
  }

  #sendWith(apiKey: string, request: KeylessRequest): Promise<Reply | NoReply> {
    const { method, path, body, deadline, freshConnection } = request;
    const headers = ACCEPT.concat([API_KEY_HEADER, apiKey], request.headers);
    return this.#http.send({ method, origin: this.#origin, path, headers, body, deadline, freshConnection });
  }

  /** Waits for the key no longer than the deadline. */
  #askAndSend(ask: Exclude<ApiKey, string>, request: KeylessRequest): Promise<Reply | NoReply> {
    return new Promise((settle) => {
      const { deadline } = request;
      deadline.onEnd((end) => settle(noReplyAt(end)));
      void askForApiKey(ask).then((apiKey) => {
        if (apiKey === undefined) settle({ noReply: 'api_key' });
        else settle(this.#sendWith(apiKey, request));
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
 * The application key (section 5.1), or a function that gives it before each call, so that it can rotate without a restart: 1 to 4096 visible
 * ASCII characters (our decision). A function that throws, or gives no such key in time, makes the call unavailable: `api_key` or `timeout`.
 */
export type ApiKey = string | (() => string | Promise<string>);

/** Bytes an application key may have (our decision). */
export const MAX_API_KEY_LENGTH = 4096;

/** Asks a key function. `undefined` when it throws or gives no usable key; its error goes no further. */
export async function askForApiKey(ask: () => string | Promise<string>): Promise<string | undefined> {
  try {
    const key: unknown = await ask();
    return isHeaderValue(key, MAX_API_KEY_LENGTH) ? key : undefined;
  } catch {
    return undefined;
  }
}
