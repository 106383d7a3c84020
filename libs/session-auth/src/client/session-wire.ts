import type { HttpService } from '@nestjs/axios';
import type { SessionIdentity } from '../contract/session-identity.js';
import { API_KEY_HEADER, AUTH_IV_HEADER, AUTH_TOKEN_HEADER, AUTHENTICATION_PATH, USER_DETAILS_PATH } from '../contract/wire.js';
import { readApiKey, type ApiKey } from './api-key.js';
import { CallFailure } from './call-failure.js';
import type { Deadline } from './deadline.js';
import type { Reply } from './reply.js';
import type { SessionRequest } from './session-request.js';

/** Username and password of a sign-in (section 2.3). */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Where the service is, and the key that this application shows it. */
export interface WireSettings {
  /** Root of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
}

/** The three requests of the interface, each with the headers that the interface lists and no others. */
export class SessionWire {
  readonly #http: HttpService;
  readonly #apiKey: ApiKey;
  readonly #authenticationUrl: string;
  readonly #userDetailsUrl: string;

  constructor(http: HttpService, { baseUrl, apiKey }: WireSettings) {
    this.#http = http;
    this.#apiKey = apiKey;
    this.#authenticationUrl = `${baseUrl}${AUTHENTICATION_PATH}`;
    this.#userDetailsUrl = `${baseUrl}${USER_DETAILS_PATH}`;
  }

  /** GET user_details (section 4.3). */
  getUserDetails({ token, authIv }: SessionIdentity, deadline: Deadline): Promise<Reply> {
    const headers = { [AUTH_TOKEN_HEADER]: token, ...ivHeader(authIv) };
    return this.#send({ method: 'get', url: this.#userDetailsUrl, headers, deadline, freshConnection: false });
  }

  /** POST authentication: sign in (section 4.1). */
  postAuthentication({ username, password }: Credentials, authIv: string | undefined, deadline: Deadline): Promise<Reply> {
    const headers = { 'Content-Type': 'application/json', ...ivHeader(authIv) };
    const data = JSON.stringify({ username, password });
    return this.#send({ method: 'post', url: this.#authenticationUrl, headers, data, deadline, freshConnection: true });
  }

  /** DELETE authentication: sign out (section 4.2). */
  deleteAuthentication({ token, authIv }: SessionIdentity, deadline: Deadline): Promise<Reply> {
    const headers = { [AUTH_TOKEN_HEADER]: token, ...ivHeader(authIv) };
    return this.#send({ method: 'delete', url: this.#authenticationUrl, headers, deadline, freshConnection: true });
  }

  /** One exchange that ends at the deadline at the latest, whatever the key function, an interceptor or the service does. */
  #send(request: SessionRequest): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { deadline } = request;
      const stop = deadline.onEnd((end) => reject(new CallFailure(end === 'shutting_down' ? end : 'timeout')));
      const fail = (error: unknown): void => reject(error instanceof CallFailure ? error : new CallFailure('unreachable'));
      const key = readApiKey(this.#apiKey);
      const reply = typeof key === 'string' ? this.#request(request, key) : key.then((read) => this.#request(request, read));
      reply.then(resolve, fail).finally(stop);
    });
  }

  async #request(request: SessionRequest, apiKey: string): Promise<Reply> {
    if (request.deadline.ended) throw new CallFailure('timeout');
    const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity', [API_KEY_HEADER]: apiKey, ...request.headers };
    const { status, headers: replied, data: body } = await this.#http.axiosRef.request<Buffer | undefined>({ ...request, headers });
    return { status, headers: replied, body };
  }
}

function ivHeader(authIv: string | undefined): Record<string, string> {
  return authIv === undefined ? {} : { [AUTH_IV_HEADER]: authIv };
}
