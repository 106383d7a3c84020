import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { unavailable, type Authenticated, type Unavailable, type Verdict } from '../contract/outcome.js';
import type { HttpDenial } from '../exceptions/denial-body.js';
import { denialOfVerdict, payloadOf, unavailableDenial } from '../guard/denial.js';
import { disconnect, whenClosed, type SocketClient } from '../guard/socket-client.js';

/** The checks of one session, and their interval in milliseconds. */
interface SessionChecks {
  readonly verify: (session: SessionIdentity) => Verdict<UserRecord> | Promise<Verdict<UserRecord>>;
  readonly recheckMs: number;
}

/**
 * Checks a session again every `recheckMs`, once for all sockets that were opened with it. The token for
 * these checks is in a private field, and is not kept longer than the sockets.
 */
export class SessionRechecks {
  readonly #session: SessionIdentity;
  readonly #checks: SessionChecks;
  readonly #sockets = new Set<WatchedSocket>();
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Infinity;

  constructor(session: SessionIdentity, checks: SessionChecks) {
    this.#session = session;
    this.#checks = checks;
  }

  /** Checks the session now, for one socket. */
  verify(): Verdict<UserRecord> | Promise<Verdict<UserRecord>> {
    return this.#checks.verify(this.#session);
  }

  /**
   * Checks the session for all sockets within `recheckMs`, or within `limitMs` if that is less. A check is
   * early by a random time, so that sessions of sockets that opened together are not checked together.
   */
  schedule(limitMs = Infinity): void {
    const delayMs = Math.ceil(Math.min(this.#checks.recheckMs * (1 - Math.random() / 10), limitMs));
    const dueAtMs = performance.now() + delayMs;
    if (dueAtMs >= this.#dueAtMs) return;
    clearTimeout(this.#timer);
    this.#dueAtMs = dueAtMs;
    this.#timer = setTimeout(() => void this.#check(), delayMs).unref();
  }

  /** Adds a socket, which schedules its checks. */
  add(socket: WatchedSocket): void {
    this.#sockets.add(socket);
  }

  /** Removes a socket. Returns whether none is left. */
  remove(socket: WatchedSocket): boolean {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0) return false;
    clearTimeout(this.#timer);
    this.#dueAtMs = Infinity;
    return true;
  }

  async #check(): Promise<void> {
    this.#dueAtMs = Infinity;
    const verdict = await this.verify();
    const errors: unknown[] = [];
    for (const socket of [...this.#sockets]) {
      try {
        // A socket without a user waits for its first check.
        if (socket.user) socket.apply(verdict);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** How to watch a socket. */
interface SocketWatch {
  /** Milliseconds that the socket stays open during an outage. */
  readonly outageGraceMs: number;
  /** Called once, when watching ends. */
  readonly over: () => void;
}

/**
 * A socket that is closed when its session ends. The session is checked before the socket is used, and every
 * `recheckMs` after that.
 */
export class WatchedSocket {
  readonly #client: SocketClient;
  readonly #rechecks: SessionRechecks;
  readonly #watch: SocketWatch;
  #user: UserRecord | undefined;
  #outageBegan: number | undefined;
  #ended = false;
  #started: Promise<UserRecord | undefined> | undefined;

  constructor(client: SocketClient, rechecks: SessionRechecks, watch: SocketWatch) {
    this.#client = client;
    this.#rechecks = rechecks;
    this.#watch = watch;
    rechecks.add(this);
  }

  /**
   * The session's user at the last successful check; `undefined` before the first check and after watching
   * ends.
   */
  get user(): UserRecord | undefined {
    return this.#user;
  }

  /** Checks the session of an open socket for the first time. Later calls return the same promise. */
  start(): Promise<UserRecord | undefined> {
    return (this.#started ??= this.#firstCheck());
  }

  /**
   * Uses the verdict of the handshake as the first check. The socket may not be open yet: {@link opened}
   * follows.
   */
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
    if (!this.#ended) this.apply(await this.#rechecks.verify());
    return this.#user;
  }

  /** Uses a verdict on the session: closes the socket, or schedules the next check. */
  apply(verdict: Verdict<UserRecord>): void {
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
    this.#rechecks.schedule();
  }

  /** During an outage, a new socket is closed, and one that was admitted stays open for `outageGraceMs`. */
  #unconfirmed(outage: Unavailable): void {
    const now = performance.now();
    this.#outageBegan ??= now;
    const leftMs = this.#outageBegan + this.#watch.outageGraceMs - now;
    if (this.#user && leftMs > 0) this.#rechecks.schedule(leftMs);
    else this.end(unavailableDenial(outage));
  }
}
