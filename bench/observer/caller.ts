import { once } from 'node:events';
import { Agent, get, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { nowMs } from './clock.js';
import type { OpenStream, Request } from './journal.js';
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

  /** Reads a reply that stays open, and leaves it after `forMs`. Returns `undefined` if it did not open. Never rejects. */
  async hold(token: string, forMs: number): Promise<OpenStream | undefined> {
    const openedAtMs = nowMs();
    const call = get(`${this.url}/parts`, { agent: false, headers: { 'x-auth-token': token } });
    call.on('error', () => undefined);
    const [reply] = (await once(call, 'response').catch(() => [])) as [IncomingMessage?];
    if (reply?.statusCode !== 200) {
      call.destroy();
      return undefined;
    }
    let received = '';
    reply.setEncoding('utf8').on('data', (part: string) => (received += part));
    reply.on('error', () => undefined);
    const leaving = new AbortController();
    const timer = setTimeout(() => leaving.abort(), forMs);
    leaving.signal.addEventListener('abort', () => call.destroy());
    await new Promise((resolve) => reply.once('close', resolve));
    clearTimeout(timer);
    const last = [...received.matchAll(/^data: (\{"atMs".*\})$/gm)].at(-1)?.[1];
    if (last === undefined) return undefined;
    const { atMs: lastPartAtMs, username: user } = JSON.parse(last) as { atMs: number; username: string };
    const status = /^event: session-ended\ndata: \{"statusCode":(\d+)/m.exec(received)?.[1];
    const endedWith = Number(status ?? (leaving.signal.aborted ? 0 : -1));
    return { openedAtMs, lastPartAtMs, overAtMs: nowMs(), instance: this.instance, token, user, endedWith };
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
