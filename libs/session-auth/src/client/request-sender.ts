import { exchangeOverAgent, type OwnAgents } from './agent-requests.js';
import type { AxiosHttpService } from './axios-http.service.js';
import type { ConnectionSettings, ServiceRequest } from './connection.js';
import type { Connections } from './connections.js';
import { inTime } from './deadline.js';
import { type Answer, UNREACHABLE } from './reply.js';
import type { SessionHttpService } from './session-http.service.js';

/** Settings of a {@link RequestSender}: those of the connections, and the agents that the application sets. */
export interface RequestSenderSettings extends ConnectionSettings, OwnAgents {
  /** Receives the error if undici can't be loaded, or is another package: no call can be sent. */
  readonly loadFailed?: (error: unknown) => void;
}

/**
 * Sends the requests of one registration: over its own connections, over agents of the application, or
 * through axios once the application uses it. undici is loaded by `load()` or the first call, and axios for
 * those who inject its service: an application that imports this package, and starts, waits for neither.
 */
export class RequestSender {
  readonly #settings: RequestSenderSettings;
  #connections: Connections | undefined;
  #loading: Promise<Connections | undefined> | undefined;
  #axios: Promise<AxiosHttpService> | undefined;
  /** Set once the application may have changed the axios instance, so that all later calls go through it. */
  #usedAxios: AxiosHttpService | undefined;

  constructor(settings: RequestSenderSettings) {
    this.#settings = settings;
  }

  /** Returns the `SessionHttpService` of the registration: one, created at the first call. */
  http(): Promise<SessionHttpService> {
    this.#axios ??= this.#loadAxios();
    return this.#axios;
  }

  /** Sends a request. `agents`: those of axios, which has passed it on. Never rejects. */
  send(request: ServiceRequest, agents?: OwnAgents): Promise<Answer> {
    if (this.#usedAxios && !agents) return this.#usedAxios.send(request);
    const own = agents ?? this.#settings;
    if (own.httpAgent ?? own.httpsAgent) return exchangeOverAgent(request, own, this.#settings);
    if (this.#connections) return this.#connections.exchange(request);
    return inTime(
      request.deadline,
      this.load().then((connections) => connections?.exchange(request) ?? UNREACHABLE),
    );
  }

  /** Loads undici, so that the first call need not wait for it. Never rejects. */
  load(): Promise<Connections | undefined> {
    this.#loading ??= this.#loadConnections();
    return this.#loading;
  }

  renew(): void {
    this.#connections?.renew();
  }

  async close(): Promise<void> {
    this.#loading ??= Promise.resolve(undefined);
    await (await this.#loading)?.close();
  }

  async #loadConnections(): Promise<Connections | undefined> {
    try {
      const { Connections } = await import('./connections.js');
      this.#connections = new Connections(this.#settings);
    } catch (error) {
      this.#settings.loadFailed?.(error);
    }
    return this.#connections;
  }

  async #loadAxios(): Promise<AxiosHttpService> {
    const { AxiosHttpService } = await import('./axios-http.service.js');
    const service: AxiosHttpService = new AxiosHttpService(
      this.#settings,
      (request, agents) => this.send(request, agents),
      () => (this.#usedAxios = service),
    );
    return service;
  }
}
