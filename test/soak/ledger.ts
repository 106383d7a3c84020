import {
  afterlifeMs,
  isInFleet,
  isManager,
  RELAY_MS,
  SOCKET,
  SOCKET_END_MS,
  type ApplicationName,
} from './settings.js';

/** The true state of a session, by the soak's own clock. */
interface Session {
  readonly username: string;
  /** When its revocation began; until `endedAt` its state is unknown. */
  endingAt: number;
  /** When the service had confirmed its end. */
  endedAt: number;
  /** When an application had confirmed its sign-out: from then on that one must not let it in. */
  readonly signedOutAt: Map<ApplicationName, number>;
  /**
   * When an application had let it in, or issued it: from then on no flood of strangers may cost it its
   * place.
   */
  readonly knownAt: Map<ApplicationName, number>;
}

/** A check as its caller saw it. */
interface SeenCheck {
  readonly application: ApplicationName;
  readonly token: string;
  readonly managersOnly: boolean;
  readonly sentAt: number;
  readonly repliedAt: number;
  /** No fault can have touched it. */
  readonly calm: boolean;
  /** Strangers may have met a flood. */
  readonly flooded: boolean;
}

/** The true state of every session, from which the permitted answers of the applications follow. */
export class Ledger {
  readonly #sessions = new Map<string, Session>();
  /** When all sessions of a user were last revoked, or are being revoked: Infinity. */
  readonly #usersEndedAt = new Map<string, number>();

  begin(token: string, username: string): void {
    this.#sessions.set(token, {
      username,
      endingAt: Infinity,
      endedAt: Infinity,
      signedOutAt: new Map(),
      knownAt: new Map(),
    });
  }

  usernameOf(token: string): string | undefined {
    return this.#sessions.get(token)?.username;
  }

  /** The end of a session is set off now. */
  ending(token: string): void {
    const session = this.#sessions.get(token);
    if (session) session.endingAt = Math.min(session.endingAt, performance.now());
  }

  /** The service has confirmed the end of these sessions. */
  ended(tokens: readonly string[]): void {
    for (const token of tokens) {
      const session = this.#sessions.get(token);
      if (session) session.endedAt = Math.min(session.endedAt, performance.now());
    }
  }

  signedOut(token: string, application: ApplicationName): void {
    this.#sessions.get(token)?.signedOutAt.set(application, performance.now());
  }

  /** An application has let the session in, or issued it. */
  known(token: string, application: ApplicationName): void {
    const known = this.#sessions.get(token)?.knownAt;
    if (known && !known.has(application)) known.set(application, performance.now());
  }

  /** The sockets of a user close, and the caches evict its sessions: they may be checked again. */
  endingUser(username: string): void {
    this.#usersEndedAt.set(username, Infinity);
  }

  forgottenUser(username: string): void {
    this.#usersEndedAt.set(username, performance.now());
  }

  /** Returns the tokens that a restarted service must reject. */
  endingTokens(): string[] {
    return [...this.#sessions].filter(([, { endingAt }]) => endingAt < Infinity).map(([token]) => token);
  }

  permitted(check: SeenCheck): ReadonlySet<number> {
    const verdicts = this.#verdicts(check);
    const mayBeDisplaced = check.flooded && !this.#isKnown(check);
    return new Set(check.calm && !mayBeDisplaced ? verdicts : [...verdicts, 503]);
  }

  /**
   * Whether a socket of the session must be closed by now; `lostMs` are the stalls of this process since the
   * socket opened.
   */
  mustBeClosed(token: string, application: ApplicationName, lostMs: number): boolean {
    const session = this.#sessions.get(token);
    return (
      session !== undefined &&
      performance.now() > this.#knowsEndAt(session, application) + SOCKET_END_MS + lostMs
    );
  }

  /** Whether a socket of the session may be closed that was opened then. */
  mayBeClosed(token: string, openedAt: number): boolean {
    const session = this.#sessions.get(token);
    if (!session || session.endingAt < Infinity) return true;
    return (this.#usersEndedAt.get(session.username) ?? -Infinity) > openedAt - RELAY_MS - SOCKET.recheckMs;
  }

  #isKnown({ token, application, sentAt }: SeenCheck): boolean {
    return (this.#sessions.get(token)?.knownAt.get(application) ?? Infinity) < sentAt;
  }

  /**
   * When an application knows that a session was signed out: its own sign-out at once, that of another
   * instance by a message.
   */
  #knowsEndAt({ signedOutAt }: Session, application: ApplicationName): number {
    const own = signedOutAt.get(application) ?? Infinity;
    if (!isInFleet(application)) return own;
    const others = [...signedOutAt].filter(([name]) => isInFleet(name)).map(([, at]) => at + RELAY_MS);
    return Math.min(own, ...others);
  }

  #verdicts({ application, token, managersOnly, sentAt, repliedAt }: SeenCheck): number[] {
    const session = this.#sessions.get(token);
    if (!session) return [401];
    const { username, endingAt, endedAt } = session;
    const asUser = managersOnly && !isManager(username) ? 403 : 200;
    if (endingAt > repliedAt) return [asUser];
    const mustKnow =
      sentAt > endedAt + afterlifeMs(application) || sentAt > this.#knowsEndAt(session, application);
    return mustKnow ? [401] : [asUser, 401];
  }
}
