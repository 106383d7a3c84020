import { Agent, request as requestTo } from 'node:http';
import { text } from 'node:stream/consumers';

/** Longer than a busy machine takes for a stampede. */
const REQUEST_TIMEOUT_MS = 60_000;

/** A reply, as the sender of the request measured it. */
export interface DrivenReply {
  readonly status: number;
  /** The source of the verdict, from the reply. */
  readonly answeredBy: string;
  readonly body: string;
  /** When the request was sent, and how long the reply took, in milliseconds of the monotonic clock. */
  readonly sentAt: number;
  readonly tookMs: number;
}

/** A request to the demo. */
export interface DrivenRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly token?: string;
  readonly json?: unknown;
}

/** Sends requests to the demo's own port. */
export class LoadDriver {
  readonly #agent: Agent;
  readonly #origin: string;
  #closed = false;

  constructor(origin: string, atOnce: number) {
    this.#origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce, maxFreeSockets: atOnce });
  }

  /** Sends one request. Resolves to its reply; undefined without one. Never rejects. */
  async send(request: DrivenRequest): Promise<DrivenReply | undefined> {
    if (this.#closed) return undefined;
    return this.#request(request).catch(() => undefined);
  }

  /** Opens connections in advance, so that the following requests are sent simultaneously. */
  async warm(connections: number, path: string): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => this.send({ path })));
  }

  /** Aborts the requests in flight. Requests sent after this have no reply. */
  close(): void {
    this.#closed = true;
    this.#agent.destroy();
  }

  #request(driven: DrivenRequest): Promise<DrivenReply> {
    const { method = 'GET', path, token, json } = driven;
    const sentAt = performance.now();
    const headers = {
      ...(token !== undefined && { 'x-auth-token': token }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    };
    return new Promise((resolve, reject) => {
      const request = requestTo(
        `${this.#origin}${path}`,
        { method, agent: this.#agent, headers, timeout: REQUEST_TIMEOUT_MS },
        (reply) => {
          const answeredBy = String(reply.headers['x-answered-by'] ?? '');
          const status = reply.statusCode ?? 0;
          text(reply).then(
            (body) => resolve({ status, answeredBy, body, sentAt, tookMs: performance.now() - sentAt }),
            reject,
          );
        },
      );
      request.once('timeout', () => request.destroy());
      request.once('error', (error: NodeJS.ErrnoException) => {
        // On a busy machine, the server may have closed the idle connection at that moment.
        const isStale = method === 'GET' && request.reusedSocket && error.code === 'ECONNRESET';
        if (isStale && !this.#closed) resolve(this.#request(driven));
        else reject(error);
      });
      request.end(json === undefined ? undefined : JSON.stringify(json));
    });
  }
}
