import type { Agent } from 'node:http';
import type { AxiosHttpService } from './axios-http.service.js';
import type { Connections, ConnectionSettings } from './connections.js';
import type { NoReply, Reply } from './reply.js';
import type { ServiceRequest } from './service-request.js';
import type { SessionHttpService } from './session-http.service.js';

/** Settings of a {@link RequestSender}: those of the pool, and the agents that the application sets. */
interface RequestSenderSettings extends ConnectionSettings {
  readonly httpAgent: Agent | undefined;
  readonly httpsAgent: Agent | undefined;
}

/**
 * Sends the requests of one registration: to the pool, or through axios once the application uses it. undici
 * is loaded when the application starts, and axios when it is needed: an application that only imports this
 * package waits for neither.
 */
export class RequestSender {
  readonly #connections: Connections;
  readonly #settings: RequestSenderSettings;
  #axios: AxiosHttpService | undefined;
  #loading: Promise<AxiosHttpService> | undefined;

  private constructor(connections: Connections, settings: RequestSenderSettings) {
    this.#connections = connections;
    this.#settings = settings;
  }

  /** Creates a sender. Rejects with `InvalidConfigurationError` if undici is not the npm package. */
  static async create(settings: RequestSenderSettings): Promise<RequestSender> {
    const { Connections } = await import('./connections.js');
    const sender = new RequestSender(new Connections(settings), settings);
    if (settings.httpAgent ?? settings.httpsAgent) await sender.http();
    return sender;
  }

  /** Returns the `SessionHttpService` of the registration: one, created at the first call. */
  http(): Promise<SessionHttpService> {
    this.#loading ??= this.#loadAxios();
    return this.#loading;
  }

  /** Sends a request. Never rejects. */
  send(request: ServiceRequest): Promise<Reply | NoReply> {
    return this.#axios?.isUsed ? this.#axios.send(request) : this.#connections.exchange(request);
  }

  /** Replaces the pool for later calls. */
  renew(): void {
    this.#connections.renew();
  }

  /** Closes all pooled connections, and aborts their calls. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  async #loadAxios(): Promise<AxiosHttpService> {
    const { createAxiosHttpService } = await import('./axios-http.service.js');
    this.#axios = createAxiosHttpService(this.#connections, this.#settings);
    return this.#axios;
  }
}
