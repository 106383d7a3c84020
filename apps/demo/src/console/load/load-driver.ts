import { Agent, get } from 'node:http';

const REQUEST_TIMEOUT_MS = 10_000;

/** Sends requests to the demo's own port, and counts the replies by status. */
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

  /** Sends one request and counts its reply. Never rejects. */
  async send(path: string, token: string): Promise<void> {
    const status = await this.#statusOf(path, { 'x-auth-token': token });
    if (status === undefined) this.lost += 1;
    else this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  /** Opens connections in advance, so that the following requests are sent simultaneously. */
  async warm(connections: number, path: string): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => this.#statusOf(path, {})));
  }

  /** Aborts the requests in flight. Requests sent after this are counted as lost. */
  close(): void {
    this.#closed = true;
    this.#agent.destroy();
  }

  /** Resolves to undefined if there is no reply, or no request can be made. */
  async #statusOf(path: string, headers: Record<string, string>): Promise<number | undefined> {
    if (this.#closed) return undefined;
    return this.#request(path, headers).catch(() => undefined);
  }

  #request(path: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const request = get(`${this.#origin}${path}`, { agent: this.#agent, headers, timeout: REQUEST_TIMEOUT_MS }, (reply) => {
        reply.resume().once('close', () => resolve(reply.statusCode));
      });
      request.once('timeout', () => request.destroy());
      request.once('error', reject);
    });
  }
}
