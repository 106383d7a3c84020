import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ConsoleParts } from '../console-parts.js';
import { LoadDriver } from '../load/load-driver.js';
import { MARKS_PER_SECOND, TRICKLE_EVERY_MS } from '../messages.js';

const AT_ONCE = 3;
/** Pages may ask a little early, and many pages see the same requests. */
const REST_MS = TRICKLE_EVERY_MS * 0.8;
/** How long the session is kept after the last turn. */
const KEPT_MS = 30_000;
/** Until the marks of a turn have been sent to the pages. */
const SHOWN_MS = 2_000 / MARKS_PER_SECOND;

/**
 * Sends a few real requests while a page shows nothing else, in turns: three with one session, then one with
 * an invented token.
 */
@Injectable()
export class Trickle implements OnModuleDestroy {
  #turns = 0;
  #lastAt = -Infinity;
  #isTaking = false;
  #turn: Promise<void> = Promise.resolve();
  #token: string | undefined;
  #end: NodeJS.Timeout | undefined;

  constructor(private readonly parts: ConsoleParts) {}

  async onModuleDestroy(): Promise<void> {
    clearTimeout(this.#end);
    await this.#turn;
  }

  /**
   * Takes a turn, unless one runs or was a moment ago, or the session service has a fault. Resolves when each
   * request has its reply; never rejects.
   */
  async next(origin: string): Promise<void> {
    const now = performance.now();
    if (this.#isTaking || now - this.#lastAt < REST_MS || this.parts.serviceControls?.fault !== 'none')
      return;
    this.#lastAt = now;
    this.#isTaking = true;
    this.#turn = this.#send(new LoadDriver(origin, AT_ONCE), (this.#turns += 1)).finally(
      () => (this.#isTaking = false),
    );
    await this.#turn;
  }

  /** Resolves when no request of a turn is in flight, and all are shown. */
  settled(): Promise<void> {
    return this.#turn;
  }

  async #send(driver: LoadDriver, turn: number): Promise<void> {
    clearTimeout(this.#end);
    this.#token ??= await this.#signIn(driver);
    const token = turn % 2 === 0 ? randomBytes(24).toString('base64url') : this.#token;
    const count = turn % 2 === 0 ? 1 : AT_ONCE;
    if (token !== undefined) {
      const replies = await Promise.all(
        Array.from({ length: count }, () => driver.send({ path: '/api/me', token })),
      );
      if (token === this.#token && replies.some((reply) => reply?.status === 401)) this.#token = undefined;
    }
    driver.close();
    await wait(SHOWN_MS, undefined, { ref: false });
    this.#end = setTimeout(() => this.#endSession(), KEPT_MS).unref();
  }

  async #signIn(driver: LoadDriver): Promise<string | undefined> {
    const { username, password } = this.parts.info.users[0] ?? {};
    const reply = await driver.send({ method: 'POST', path: '/api/session', json: { username, password } });
    return reply?.status === 200 ? (JSON.parse(reply.body) as { readonly token: string }).token : undefined;
  }

  #endSession(): void {
    const token = this.#token;
    this.#token = undefined;
    if (token !== undefined) this.parts.serviceControls?.endSession(token).catch(() => undefined);
  }
}
