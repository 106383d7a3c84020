import { Agent, get } from 'node:http';

const REQUEST_TIMEOUT_MS = 10_000;

/** Sends requests to the demo's own port, as many at once as it is asked to, and counts what they come to. */
export class LoadDriver {
  readonly #agent: Agent;
  readonly #origin: string;
  readonly statuses: Record<string, number> = {};
  lost = 0;
  #closed = false;

  constructor(origin: string, atOnce: number) {
    this.#origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce, maxFreeSockets: atOnce });
  }

  /** One request, which is counted. Never rejects. */
  async send(path: string, token: string): Promise<void> {
    const status = await this.#statusOf(path, { 'x-auth-token': token });
    if (status === undefined) this.lost += 1;
    else this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  /** Opens so many connections, so that the requests to come are at once indeed. */
  async warm(connections: number, path: string): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => this.#statusOf(path, {})));
  }

  /** Cuts off what is under way; what is sent from now on is lost. */
  close(): void {
    this.#closed = true;
    this.#agent.destroy();
  }

  /** Undefined where no reply came, or where no request could be made: of a connection that is gone there is no address. */
  async #statusOf(path: string, headers: Record<string, string>): Promise<number | undefined> {
    if (this.#closed) return undefined;
    return this.#ask(path, headers).catch(() => undefined);
  }

  #ask(path: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const request = get(`${this.#origin}${path}`, { agent: this.#agent, headers, timeout: REQUEST_TIMEOUT_MS }, (reply) => {
        reply.resume().once('close', () => resolve(reply.statusCode));
      });
      request.once('timeout', () => request.destroy());
      request.once('error', reject);
    });
  }
}
