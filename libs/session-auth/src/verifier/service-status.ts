import type { LaneName } from '../contract/diagnostics.js';
import type { Verdict } from '../contract/outcome.js';
import type { TokenKey } from '../contract/session-identity.js';
import type { BreakerState } from './circuit-breaker.js';

/**
 * The state of the session service, as this instance sees it.
 *
 * - `down`: the breaker of known sessions is open, for the time of its pause.
 * - `degraded`: that pause is over and the next call is a probe, the breaker of strangers is not closed, the
 * service refuses everyone (the key or the URL is probably wrong), or the revocations of other instances do
 * not arrive.
 * - `up`: none of these.
 *
 * Requests of strangers alone never make it `down`.
 */
export type ServiceState = 'up' | 'degraded' | 'down';

/** The state of the session service, and the conditions that determine it. */
export interface ServiceStatus {
  /** Derived from the members below. */
  readonly state: ServiceState;
  /** The circuit breaker of each lane; with `breaker: false`, only a pause for a 429 opens it. */
  readonly breakers: Readonly<Record<LaneName, BreakerState>>;
  /**
   * Whether the key or the URL is probably wrong: every token has been refused since startup, or sessions of
   * several users that were accepted before are refused, and none was accepted since.
   */
  readonly misconfigurationSuspected: boolean;
  /** Whether revocations of other instances arrive. */
  readonly revocationBus: RevocationBusStatus;
}

/**
 * `off`: there is no `cache.store`. `interrupted`: revocations of other instances take effect here after
 * `cache.ttlMs` at the latest.
 */
export type RevocationBusState = 'off' | 'connected' | 'interrupted';

/** The channel that carries revocations between instances. */
export interface RevocationBusStatus {
  /** Whether revocations of other instances arrive. */
  readonly state: RevocationBusState;
  /**
   * Number of messages since startup that no secret opens: their senders have another secret or another
   * `baseUrl`.
   */
  readonly unreadableMessages: number;
}

/** The initial status, before the first call. */
export const UP: ServiceStatus = {
  state: 'up',
  breakers: { known: 'closed', strangers: 'closed' },
  misconfigurationSuspected: false,
  revocationBus: { state: 'off', unreadableMessages: 0 },
};

/** Combines the conditions of the service into one {@link ServiceStatus}. */
export class ServiceStatusTracker {
  readonly #publish: (status: ServiceStatus) => void;
  #status = UP;

  /** `publish` is called with each new status. */
  constructor(publish: (status: ServiceStatus) => void) {
    this.#publish = publish;
  }

  /** Sets the breaker state of a lane. */
  setBreaker(lane: LaneName, state: BreakerState): void {
    const { breakers } = this.#status;
    if (breakers[lane] !== state) this.#update({ breakers: { ...breakers, [lane]: state } });
  }

  /** Sets whether the key or the URL is probably wrong. */
  setMisconfigurationSuspected(misconfigurationSuspected: boolean): void {
    if (this.#status.misconfigurationSuspected !== misconfigurationSuspected)
      this.#update({ misconfigurationSuspected });
  }

  /** Sets whether revocations of other instances arrive. */
  setRevocationBus(state: RevocationBusState): void {
    const { revocationBus } = this.#status;
    if (revocationBus.state !== state) this.#update({ revocationBus: { ...revocationBus, state } });
  }

  /** Counts a message that no secret opens. Returns whether it is the first. */
  countUnreadableMessage(): boolean {
    const { revocationBus } = this.#status;
    const unreadableMessages = revocationBus.unreadableMessages + 1;
    this.#update({ revocationBus: { ...revocationBus, unreadableMessages } });
    return unreadableMessages === 1;
  }

  #update(change: Partial<Omit<ServiceStatus, 'state'>>): void {
    const status = { ...this.#status, ...change };
    this.#status = { ...status, state: stateOf(status) };
    this.#publish(this.#status);
  }
}

function stateOf({
  breakers,
  misconfigurationSuspected,
  revocationBus,
}: Omit<ServiceStatus, 'state'>): ServiceState {
  if (breakers.known === 'open') return 'down';
  const isDegraded =
    breakers.known === 'halfOpen' ||
    breakers.strangers !== 'closed' ||
    misconfigurationSuspected ||
    revocationBus.state === 'interrupted';
  return isDegraded ? 'degraded' : 'up';
}

/**
 * Number of different tokens that must be refused, without one success. Then the key or the URL is probably
 * wrong, rather than the tokens.
 */
const MIN_REFUSED_TOKENS = 20;
/** Number of users whose sessions, accepted before, must be refused with 403. */
const MIN_FORBIDDEN_USERS = 3;
/** The same for 401, within {@link ENDINGS_MS}: sessions also end, a few at a time. */
const MIN_ENDED_USERS = 5;
const ENDINGS_MS = 60_000;

/**
 * Sign of a wrong key or URL: every token was refused since startup, or sessions are refused that were
 * accepted before.
 */
export type Misconfiguration = 'since startup' | 'after acceptance';

/** Detects that the service refuses everyone, at startup or later. It does not affect verdicts. */
export class MisconfigurationDetector {
  readonly #onChange: (misconfiguration: Misconfiguration | undefined) => void;
  readonly #now: () => number;
  readonly #refusedTokens = new Set<TokenKey>();
  readonly #forbiddenUsers = new Set<unknown>();
  /** Users whose sessions ended, with the time of the last end. */
  readonly #endedUsers = new Map<unknown, number>();
  #wasAccepted = false;
  #misconfiguration: Misconfiguration | undefined;

  /**
   * `onChange` is called when a misconfiguration is suspected, and with `undefined` when a session is
   * accepted after that.
   */
  constructor(
    onChange: (misconfiguration: Misconfiguration | undefined) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#onChange = onChange;
    this.#now = now;
  }

  /**
   * Records the verdict of the service on the token with this digest.
   * @param knownUser identifies the user if the session was accepted before. One user, however many sessions
   * it has, is no sign of it.
   */
  record(tokenKey: TokenKey, { kind }: Verdict<unknown>, knownUser?: unknown): void {
    if (kind === 'authenticated') this.#set(undefined);
    else if (kind !== 'unavailable' && this.#misconfiguration === undefined)
      this.#refused(tokenKey, kind, knownUser);
  }

  #refused(tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden', knownUser: unknown): void {
    if (!this.#wasAccepted) this.#refusedTokens.add(tokenKey);
    if (knownUser !== undefined) this.#refusedUser(kind, knownUser);
    if (this.#refusedTokens.size >= MIN_REFUSED_TOKENS) this.#set('since startup');
    else if (this.#forbiddenUsers.size >= MIN_FORBIDDEN_USERS || this.#endedUsers.size >= MIN_ENDED_USERS)
      this.#set('after acceptance');
  }

  #refusedUser(kind: 'unauthenticated' | 'forbidden', user: unknown): void {
    if (kind === 'forbidden') {
      this.#forbiddenUsers.add(user);
      return;
    }
    const nowMs = this.#now();
    this.#endedUsers.set(user, nowMs);
    for (const [other, atMs] of this.#endedUsers)
      if (atMs <= nowMs - ENDINGS_MS) this.#endedUsers.delete(other);
  }

  /** The next suspicion needs refusals after this one, or after the session that was accepted now. */
  #set(misconfiguration: Misconfiguration | undefined): void {
    this.#wasAccepted ||= misconfiguration === undefined;
    this.#refusedTokens.clear();
    this.#forbiddenUsers.clear();
    this.#endedUsers.clear();
    if (misconfiguration === this.#misconfiguration) return;
    this.#misconfiguration = misconfiguration;
    this.#onChange(misconfiguration);
  }
}
