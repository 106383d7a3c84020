import type { SessionIdentity } from '../../contract/session-identity.js';
import type { UserRecord } from '../../contract/record/user-record.js';
import { unavailable, type Authenticated, type Unavailable, type Verdict } from '../../contract/outcome.js';
import type { HttpDenial } from '../../exceptions/denial-body.js';
import { denialOfVerdict, payloadOf, unavailableDenial } from '../denial.js';
import { disconnect, whenClosed, type SocketClient } from './socket-client.js';

/** How to watch a socket: the checks, their interval and the outage grace, in milliseconds. */
interface SocketWatch {
  readonly verify: (session: SessionIdentity) => Verdict<UserRecord> | Promise<Verdict<UserRecord>>;
  readonly recheckMs: number;
  readonly outageGraceMs: number;
  /** Called once, when watching ends. */
  readonly over: () => void;
}

/**
 * A socket that is closed when its session ends. The session is checked before the socket is used, and every `recheckMs` after that. The token for
 * these checks is in a private field, and is not kept longer than the socket.
 */
export class WatchedSocket {
  readonly #client: SocketClient;
  readonly #session: SessionIdentity;
  readonly #watch: SocketWatch;
  #user: UserRecord | undefined;
  #timer: NodeJS.Timeout | undefined;
  #outageBegan: number | undefined;
  #ended = false;
  #started: Promise<UserRecord | undefined> | undefined;

  constructor(client: SocketClient, session: SessionIdentity, watch: SocketWatch) {
    this.#client = client;
    this.#session = session;
    this.#watch = watch;
  }

  /** The session's user at the last successful check; `undefined` before the first check and after watching ends. */
  get user(): UserRecord | undefined {
    return this.#user;
  }

  /** Checks the session of an open socket for the first time. Later calls return the same promise. */
  start(): Promise<UserRecord | undefined> {
    return (this.#started ??= this.#firstCheck());
  }

  /** Uses the verdict of the handshake as the first check. The socket may not be open yet: {@link opened} follows. */
  admit(verdict: Authenticated<UserRecord>): void {
    this.#authenticated(verdict);
    this.#started = Promise.resolve(this.#user);
  }

  /** Stops watching when the socket, which is open now, closes. */
  opened(): void {
    whenClosed(this.#client, () => this.stop());
  }

  /** Stops watching. Does not close the socket. */
  stop(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#user = undefined;
    clearTimeout(this.#timer);
    this.#watch.over();
  }

  /** Closes the socket with a denial. */
  end(denial: HttpDenial): void {
    if (this.#ended) return;
    this.stop();
    disconnect(this.#client, payloadOf(denial));
  }

  async #firstCheck(): Promise<UserRecord | undefined> {
    this.opened();
    if (!this.#ended) await this.#check();
    return this.#user;
  }

  async #check(): Promise<void> {
    const verdict = await this.#watch.verify(this.#session);
    if (this.#ended) return;
    if (verdict.kind === 'authenticated') this.#authenticated(verdict);
    else if (verdict.kind === 'unavailable') this.#unconfirmed(verdict);
    else this.end(denialOfVerdict(verdict));
  }

  #authenticated({ user, stale }: Authenticated<UserRecord>): void {
    this.#user = user;
    if (stale) {
      this.#unconfirmed(unavailable('unreachable'));
      return;
    }
    this.#outageBegan = undefined;
    this.#scheduleCheck(Infinity);
  }

  /** During an outage, a new socket is closed, and one that was admitted stays open for `outageGraceMs`. */
  #unconfirmed(outage: Unavailable): void {
    const now = performance.now();
    this.#outageBegan ??= now;
    const leftMs = this.#outageBegan + this.#watch.outageGraceMs - now;
    if (this.#user && leftMs > 0) this.#scheduleCheck(leftMs);
    else this.end(unavailableDenial(outage));
  }

  /** Checks early by a random time, so that sockets that opened together are not checked together. */
  #scheduleCheck(limitMs: number): void {
    const delayMs = this.#watch.recheckMs * (1 - Math.random() / 10);
    this.#timer = setTimeout(() => void this.#check(), Math.ceil(Math.min(delayMs, limitMs))).unref();
  }
}
