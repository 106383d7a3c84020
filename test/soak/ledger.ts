import { AFTERLIFE_MS, isManager, type ApplicationName } from './settings.js';

/** What is true of a session, by the soak's own clock. */
interface Session {
  readonly username: string;
  /** When its end was set off; from here to `endedAt` nobody knows. */
  endingAt: number;
  /** When the service had confirmed its end. */
  endedAt: number;
  /** When an application had confirmed its sign-out: from then on that one must not let it in. */
  readonly signedOutAt: Map<ApplicationName, number>;
}

/** A check as its caller saw it. */
export interface SeenCheck {
  readonly application: ApplicationName;
  readonly token: string;
  readonly managersOnly: boolean;
  readonly sentAt: number;
  readonly repliedAt: number;
  /** No fault can have touched it. */
  readonly calm: boolean;
}

/** The truth about every session, and with it what the applications may answer. */
export class Ledger {
  readonly #sessions = new Map<string, Session>();

  begin(token: string, username: string): void {
    this.#sessions.set(token, { username, endingAt: Infinity, endedAt: Infinity, signedOutAt: new Map() });
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

  /** What a service that comes back has to be told. */
  endingTokens(): string[] {
    return [...this.#sessions].filter(([, { endingAt }]) => endingAt < Infinity).map(([token]) => token);
  }

  /** The statuses that are right for this check. */
  permitted(check: SeenCheck): ReadonlySet<number> {
    const verdicts = this.#verdicts(check);
    return new Set(check.calm ? verdicts : [...verdicts, 503]);
  }

  #verdicts({ application, token, managersOnly, sentAt, repliedAt }: SeenCheck): number[] {
    const session = this.#sessions.get(token);
    if (!session) return [401];
    const { username, endingAt, endedAt, signedOutAt } = session;
    const asUser = managersOnly && !isManager(username) ? 403 : 200;
    if (endingAt > repliedAt) return [asUser];
    const mustKnow = sentAt > endedAt + AFTERLIFE_MS || sentAt > (signedOutAt.get(application) ?? Infinity);
    return mustKnow ? [401] : [asUser, 401];
  }
}
