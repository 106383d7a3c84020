import { ACCESS_DENIED, SESSION_REJECTED } from '../contract/denials.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { CauseReports } from '../contract/causes.js';
import { type UserRecord, someUsername } from '../contract/record/user-record.js';
import { isSameSession, type SessionIdentity, tokenKeyOf } from '../contract/session-identity.js';
import { denialOfVerdict, type GuardDenial } from '../guard/denial.js';
import type { WatchRegistration, WhileOpen } from '../guard/transport.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';

type Registration = Pick<WatchRegistration, 'verifier' | 'ends' | 'causes'>;

export interface WatchTarget extends WhileOpen {
  /** Called once, if it ends with its session. A socket ends otherwise when it is open than before. */
  end: (denial: GuardDenial) => void;
  readonly isSocket?: true;
}

/** In a process. */
export const MAX_OPEN_OF_SESSION = 10_000;

/** Something open, which ends with its session. Waits for its first check until it is admitted. */
export class Watched {
  readonly target: WatchTarget;
  readonly #session: WatchedSession;
  #state: 'waiting' | 'open' | 'over' = 'waiting';
  #confirmed: Promise<boolean> | boolean | undefined;

  constructor(target: WatchTarget, session: WatchedSession) {
    this.target = target;
    this.#session = session;
    session.members.add(this);
    if (session.members.size > MAX_OPEN_OF_SESSION) this.end(denialOfVerdict(unavailable('busy')));
  }

  get state(): 'waiting' | 'open' | 'over' {
    return this.#state;
  }

  get fingerprint(): string {
    return this.#session.fingerprint;
  }

  /** At the last check of its session; `undefined` while it waits, and after it is over. */
  get user(): UserRecord | undefined {
    return this.#state === 'open' ? this.#session.user : undefined;
  }

  /** Checks the session for the first time. Returns whether it may be open; later calls return the same. */
  confirm(): boolean | Promise<boolean> {
    this.#confirmed ??= this.#state === 'over' ? false : this.#confirm();
    return this.#confirmed;
  }

  #confirm(): boolean | Promise<boolean> {
    const verdict = this.#session.check();
    return verdict instanceof Promise ? verdict.then((settled) => this.admit(settled)) : this.admit(verdict);
  }

  /** Uses a verdict on its session as its first check. Returns whether it may be open. */
  admit(verdict: Verdict<UserRecord>): boolean {
    if (this.#state === 'waiting') this.#session.record(verdict);
    this.apply(verdict);
    return this.#state === 'open';
  }

  /** Uses a verdict that its session has recorded. */
  apply(verdict: Verdict<UserRecord>): void {
    if (this.#state === 'over') return;
    if (verdict.kind === 'authenticated') this.#state = 'open';
    const leftMs = this.#session.outageLeftMs(this.target.outageGraceMs);
    if (verdict.kind === 'unauthenticated' || verdict.kind === 'forbidden')
      this.end(denialOfVerdict(verdict));
    else if (this.#state === 'waiting' || leftMs <= 0)
      this.end(denialOfVerdict(verdict.kind === 'unavailable' ? verdict : unavailable('unreachable')));
    else this.#session.schedule(this.target.recheckMs, leftMs);
  }

  /** It has closed by itself. */
  over(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#session.remove(this);
  }

  end(denial: GuardDenial): void {
    if (this.#state === 'over') return;
    this.over();
    try {
      this.target.end(denial);
    } catch {
      // All of the session ends, and neither a timer nor an event ends the process.
      this.#session.causes.occurred('listener failed');
    }
  }
}

/**
 * A session that has something open: it is checked again every `recheckMs`, once for all of it. The token for
 * these checks is in a private field, and is not kept longer than what is open.
 */
class WatchedSession {
  readonly fingerprint: string;
  readonly members = new Set<Watched>();
  /** At the last check. */
  user: UserRecord | undefined;
  readonly #identity: SessionIdentity;
  readonly #verifier: SessionVerifier<UserRecord>;
  readonly causes: CauseReports;
  readonly #emptied: (session: WatchedSession) => void;
  /** So that sessions that began together are not checked together. */
  readonly #earlier = 1 - Math.random() / 10;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Infinity;
  #outageBeganMs: number | undefined;

  constructor(
    fingerprint: string,
    identity: SessionIdentity,
    { verifier, causes }: Registration,
    emptied: (session: WatchedSession) => void,
  ) {
    this.fingerprint = fingerprint;
    this.#identity = identity;
    this.#verifier = verifier;
    this.causes = causes;
    this.#emptied = emptied;
  }

  isOf(session: SessionIdentity): boolean {
    return isSameSession(this.#identity, session);
  }

  check(): Verdict<UserRecord> | Promise<Verdict<UserRecord>> {
    return checkAgainIfRevoked(this.#verifier, this.#identity);
  }

  record(verdict: Verdict<UserRecord>): void {
    if (verdict.kind === 'authenticated') this.user = verdict.user;
    const isConfirmed = verdict.kind === 'authenticated' && !verdict.stale;
    this.#outageBeganMs = isConfirmed ? undefined : (this.#outageBeganMs ?? performance.now());
  }

  /** `Infinity` if there is no outage. */
  outageLeftMs(graceMs: number): number {
    return this.#outageBeganMs === undefined ? Infinity : this.#outageBeganMs + graceMs - performance.now();
  }

  /** Checks the session within `recheckMs`, or within `limitMs` if that is less, for all that is open. */
  schedule(recheckMs: number, limitMs: number): void {
    const delayMs = Math.ceil(Math.min(recheckMs * this.#earlier, limitMs));
    const dueAtMs = performance.now() + delayMs;
    if (dueAtMs >= this.#dueAtMs) return;
    clearTimeout(this.#timer);
    this.#dueAtMs = dueAtMs;
    this.#timer = setTimeout(() => void this.recheck(), delayMs).unref();
  }

  remove(member: Watched): void {
    this.members.delete(member);
    if (this.members.size > 0) return;
    clearTimeout(this.#timer);
    this.#emptied(this);
  }

  async recheck(): Promise<void> {
    this.#dueAtMs = Infinity;
    const verdict = await this.check();
    this.record(verdict);
    for (const member of openOnes(this.members)) member.apply(verdict);
  }
}

/** All that is open of one registration. Holds nothing else, and sessions only while they have something open. */
export class WatchedSessions {
  readonly #registration: Registration;
  /** By fingerprint of the token. There are several only if a token is presented with several IVs. */
  readonly #sessions = new Map<string, WatchedSession[]>();

  private constructor(registration: Registration) {
    this.#registration = registration;
    const { ends, verifier } = registration;
    ends.ended.subscribe({
      next: (fingerprint) => this.#end(fingerprint, SESSION_REJECTED),
      // The application has shut down, and its servers have closed.
      complete: () => {
        for (const member of this.all()) member.over();
      },
    });
    ends.evicted.subscribe((fingerprint) => {
      for (const session of this.#sessions.get(fingerprint) ?? []) void session.recheck();
    });
    ends.forgottenUsers.subscribe((username) => this.#endUser(username));
    verifier.revoker.onRefusal((key, kind) => {
      if (this.#sessions.size > 0) this.#endLater(ends.fingerprintOf(key), kind);
    });
  }

  static readonly #ofRegistration = new WeakMap<Registration, WatchedSessions>();

  static of(registration: Registration): WatchedSessions {
    const existing = this.#ofRegistration.get(registration);
    if (existing) return existing;
    const sessions = new WatchedSessions(registration);
    this.#ofRegistration.set(registration, sessions);
    return sessions;
  }

  /** Watches something before its first check, because its session may end during the check. */
  watch(session: SessionIdentity, target: WatchTarget): Watched {
    const fingerprint = this.#registration.ends.fingerprintOf(tokenKeyOf(session.token));
    const sessions = this.#sessions.get(fingerprint) ?? [];
    const existing = sessions.find((each) => each.isOf(session));
    if (existing) return new Watched(target, existing);
    const added = new WatchedSession(fingerprint, session, this.#registration, (empty) =>
      this.#forget(empty),
    );
    this.#sessions.set(fingerprint, [...sessions, added]);
    return new Watched(target, added);
  }

  /** Returns a copy of the list. */
  all(): Watched[] {
    return [...this.#sessions.values()].flat().flatMap(({ members }) => [...members]);
  }

  #forget(empty: WatchedSession): void {
    const { fingerprint } = empty;
    const others = this.#sessions.get(fingerprint)?.filter((session) => session !== empty) ?? [];
    if (others.length > 0) this.#sessions.set(fingerprint, others);
    else this.#sessions.delete(fingerprint);
  }

  #end(fingerprint: string, denial: GuardDenial): void {
    const sessions = this.#sessions.get(fingerprint) ?? [];
    for (const member of sessions.flatMap(({ members }) => [...members])) member.end(denial);
  }

  /**
   * After any refused check of a session. Deferred, so that the call that was checked gets its own denial
   * first.
   */
  #endLater(fingerprint: string, kind: 'unauthenticated' | 'forbidden'): void {
    if (!this.#sessions.has(fingerprint)) return;
    setImmediate(() => this.#end(fingerprint, kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED));
  }

  /** Those that wait are checked again instead. */
  #endUser(username: string | undefined): void {
    const concerned = [...this.#sessions.values()]
      .flat()
      .filter(
        ({ user }) => user && (username === undefined || someUsername(user, (name) => name === username)),
      );
    for (const member of concerned.flatMap(({ members }) => openOnes(members))) member.end(SESSION_REJECTED);
  }
}

function openOnes(members: Iterable<Watched>): Watched[] {
  return [...members].filter(({ state }) => state === 'open');
}

/** For one verdict. */
const MAX_CHECKS = 3;

/**
 * What opens outlives its check, so the check is repeated if the sessions of its user were revoked meanwhile:
 * the user is unknown before the verdict.
 */
function checkAgainIfRevoked(
  verifier: SessionVerifier<UserRecord>,
  session: SessionIdentity,
  checksLeft = MAX_CHECKS,
): Verdict<UserRecord> | Promise<Verdict<UserRecord>> {
  const sinceMs = performance.now();
  const pending = verifier.verify(session);
  if (!(pending instanceof Promise)) return pending;
  return pending.then((verdict) => {
    const isRevoked =
      verdict.kind === 'authenticated' && verifier.revoker.isRevokedSince(verdict.user, sinceMs);
    if (!isRevoked) return verdict;
    return checksLeft === 1 ? unavailable('busy') : checkAgainIfRevoked(verifier, session, checksLeft - 1);
  });
}
