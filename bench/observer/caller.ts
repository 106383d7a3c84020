import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { nowMs } from './clock.js';
import type { Request } from './journal.js';
import { HANG_MS } from './settings.js';

const NO_CONNECTION = 0;
const NO_ANSWER = -1;

/** A client of one instance. */
export class Caller {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(
    readonly instance: number,
    private readonly url: string,
  ) {}

  /** Calls the guarded route, and returns the outcome. Never rejects. */
  async ask(token: string): Promise<Request> {
    const sentAtMs = nowMs();
    const { status, user } = await this.#send(token);
    return { sentAtMs, answeredAtMs: nowMs(), instance: this.instance, token, status, user };
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(token: string): Promise<{ status: number; user?: string }> {
    return new Promise((resolve) => {
      const headers = { 'x-auth-token': token };
      const call = request(`${this.url}/me`, { agent: this.#agent, headers }, (response) => {
        const status = response.statusCode ?? NO_CONNECTION;
        text(response)
          .then((body) =>
            resolve(
              status === 200
                ? { status, user: (JSON.parse(body) as { username: string }).username }
                : { status },
            ),
          )
          .catch(() => resolve({ status: NO_CONNECTION }))
          .finally(() => clearTimeout(overdue));
      });
      const overdue = setTimeout(() => {
        resolve({ status: NO_ANSWER });
        call.destroy();
      }, HANG_MS);
      call.on('error', () => {
        clearTimeout(overdue);
        resolve({ status: NO_CONNECTION });
      });
      call.end();
    });
  }
}
