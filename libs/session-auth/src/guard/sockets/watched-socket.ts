import type { SessionIdentity } from '../../contract/session-identity.js';
import type { UserRecord } from '../../contract/record/user-record.js';
import { unavailable, type Authenticated, type Unavailable, type Verdict } from '../../contract/outcome.js';
import { unavailableDenial, type HttpDenial } from '../denial.js';
import { payloadOf } from '../denial.js';
import { disconnect, whenClosed, type SocketClient } from './socket-client.js';
import { denialOfVerdict } from '../denial.js';

/** How a socket is watched. */
export interface SocketWatch {
  readonly verify: (session: SessionIdentity) => Verdict<UserRecord> | Promise<Verdict<UserRecord>>;
  readonly recheckMs: number;
  readonly outageGraceMs: number;
  /** Called once, when there is nothing left to watch. */
  readonly over: () => void;
}

/**
 * One socket whose session is checked before it is used and every `recheckMs` after that, and which ends with its session. The token for these
 * checks is in a private field, and gone with the socket.
 */
export class WatchedSocket {
  readonly #client: SocketClient;
  readonly #session: SessionIdentity;
  readonly #watch: SocketWatch;
  #user: UserRecord | undefined;
  #timer: NodeJS.Timeout | undefined;
  #outageBegan: number | undefined;
  #over = false;
  #started: Promise<UserRecord | undefined> | undefined;

  constructor(client: SocketClient, session: SessionIdentity, watch: SocketWatch) {
    this.#client = client;
    this.#session = session;
    this.#watch = watch;
  }

  /** The session's user as the service told last; nobody before the first check and after the end. */
  get user(): UserRecord | undefined {
    return this.#user;
  }

  /** Checks the session of an open socket for the first time; asked again, gives the same answer. */
  start(): Promise<UserRecord | undefined> {
    return (this.#started ??= this.#firstCheck());
  }

  /** Takes the verdict of the handshake for the first check. The socket may be not open yet: {@link opened} follows. */
  admit(accepted: Authenticated<UserRecord>): void {
    this.#accepted(accepted);
    this.#started = Promise.resolve(this.#user);
  }

  /** The socket is open. */
  opened(): void {
    whenClosed(this.#client, () => this.stop());
  }

  /** Watches no more, and leaves the socket alone. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#user = undefined;
    clearTimeout(this.#timer);
    this.#watch.over();
  }

  /** Ends the socket. */
  end(denial: HttpDenial): void {
    if (this.#over) return;
    this.stop();
    disconnect(this.#client, payloadOf(denial));
  }

  async #firstCheck(): Promise<UserRecord | undefined> {
    this.opened();
    if (!this.#over) await this.#check();
    return this.#user;
  }

  async #check(): Promise<void> {
    const verdict = await this.#watch.verify(this.#session);
    if (this.#over) return;
    if (verdict.kind === 'authenticated') this.#accepted(verdict);
    else if (verdict.kind === 'unavailable') this.#unconfirmed(verdict);
    else this.end(denialOfVerdict(verdict));
  }

  #accepted({ user, stale }: Authenticated<UserRecord>): void {
    this.#user = user;
    if (stale) {
      this.#unconfirmed(unavailable('unreachable'));
      return;
    }
    this.#outageBegan = undefined;
    this.#checkAgainWithin(Infinity);
  }

  /** The service can't say: nobody new comes in, and who is in may stay for a while. */
  #unconfirmed(outage: Unavailable): void {
    const now = performance.now();
    this.#outageBegan ??= now;
    const leftMs = this.#outageBegan + this.#watch.outageGraceMs - now;
    if (this.#user && leftMs > 0) this.#checkAgainWithin(leftMs);
    else this.end(unavailableDenial(outage));
  }

  /** A little early, and never by the same: sockets that came together shall not ask together. */
  #checkAgainWithin(limitMs: number): void {
    const delayMs = this.#watch.recheckMs * (1 - Math.random() / 10);
    this.#timer = setTimeout(() => void this.#check(), Math.ceil(Math.min(delayMs, limitMs))).unref();
  }
}
