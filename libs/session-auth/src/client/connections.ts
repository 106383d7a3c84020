// By its file, because Bun resolves 'undici' to its own one, whose Client has no dispatch().
import { buildConnector, Client } from 'undici/index.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { unavailable } from '../contract/outcome.js';
import {
  Connection,
  type ConnectionKeeper,
  type ConnectionSettings,
  type ServiceRequest,
  type Settle,
} from './connection.js';
import type { Connector } from './dispatcher.js';
import { type Answer, STALE_CONNECTION, UNREACHABLE } from './reply.js';

/** Minimum milliseconds between two renewals of the connections. */
const RENEW_PAUSE_MS = 1_000;

const NOT_UNDICI =
  "SessionAuthModule: 'undici/index.js' is not the npm package undici: its Client has no dispatch(), so no call can be sent. " +
  'Configure the runtime or the bundler to resolve it to node_modules.';

/** Connections to the session service: kept ones for checks, a new one for each sign-in and sign-out. */
export class Connections {
  readonly #settings: ConnectionSettings;
  /** One for all connections, so that TLS sessions are resumed. The deadlines of the calls limit it. */
  readonly #connect: Connector = buildConnector({ timeout: 0 });
  /** By origin: interceptors of the application may change it. */
  readonly #kept = new Map<string, KeptConnections>();
  #renewedAt = -Infinity;

  constructor(settings: ConnectionSettings) {
    if (typeof Client.prototype.dispatch !== 'function') throw new InvalidConfigurationError(NOT_UNDICI);
    this.#settings = settings;
  }

  /**
   * Sends a request. Resolves with the complete reply of any status, or with the reason why there is none.
   * Never rejects.
   */
  exchange(request: ServiceRequest): Promise<Answer> {
    return new Promise((settle) => {
      const { deadline, freshConnection } = request;
      if (deadline.ended) {
        settle(unavailable(deadline.ended));
        return;
      }
      try {
        if (freshConnection) this.#sendOnNew(request, settle);
        else this.#sendOnKept(request, settle);
      } catch {
        settle(UNREACHABLE);
      }
    });
  }

  /**
   * Replaces the kept connections for later calls, at most once a second. Existing ones close when their
   * calls complete.
   */
  renew(): void {
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_PAUSE_MS) return;
    this.#renewedAt = now;
    for (const connection of this.#all()) connection.close();
    this.#kept.clear();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((connection) => connection.destroy()));
  }

  #sendOnKept(request: ServiceRequest, settle: Settle): void {
    const { origin, deadline } = request;
    let kept = this.#kept.get(origin);
    if (!kept) this.#kept.set(origin, (kept = new KeptConnections(this.#settings.maxConnections)));
    const nowMs = performance.now();
    const connection = kept.take(nowMs);
    if (!connection) {
      this.#sendOnNew(request, settle, kept);
      return;
    }
    const patienceMs = connection.isTrusted(nowMs) ? undefined : kept.patienceMs(deadline.remainingMs);
    if (patienceMs === undefined) connection.send(request, settle);
    else this.#sendTwice(request, settle, kept, connection, patienceMs);
  }

  #sendOnNew(request: ServiceRequest, settle: Settle, kept?: KeptConnections): Connection {
    const keeper = kept?.hasRoom ? kept : undefined;
    const connection = new Connection(request.origin, this.#settings, this.#connect, keeper);
    if (keeper) keeper.all.add(connection);
    connection.send(request, settle);
    return connection;
  }

  /**
   * Sends a check on a connection that was idle, and if that brings no byte for a part of the time, once more
   * on a new one: it may have died without a sign, because a NAT or a proxy dropped it, or its host. The first
   * reply counts.
   */
  #sendTwice(
    request: ServiceRequest,
    settle: Settle,
    kept: KeptConnections,
    idle: Connection,
    patienceMs: number,
  ): void {
    let second: Connection | undefined;
    let isOver = false;
    const end = (answer: Answer): void => {
      isOver = true;
      clearTimeout(timer);
      settle(answer);
    };
    const timer = setTimeout(() => {
      if (!idle.isSilent) return;
      // The new one takes its place.
      kept.remove(idle);
      second = this.#sendOnNew(
        request,
        (answer) => {
          if (isOver) return;
          if ('status' in answer) {
            request.deadline.lostMs = patienceMs;
            kept.closeUntrusted();
            this.#settings.connectionLost?.();
          }
          end(answer);
          idle.abort(answer);
        },
        kept,
      );
    }, patienceMs).unref();
    idle.send(request, (answer) => {
      // It has closed meanwhile: the second one decides.
      if (isOver || (second && answer === STALE_CONNECTION)) return;
      end(answer);
      if (!second) return;
      second.abort(answer);
      kept.all.add(idle);
    });
  }

  #all(): Connection[] {
    return [...this.#kept.values()].flatMap(({ all }) => [...all]);
  }
}

/** Part of its time that a check waits for the first byte on a connection that may be dead. */
const PATIENCE = 1 / 4;
const MAX_PATIENCE_MS = 1_000;
/** Weight of a faster reply in {@link KeptConnections.slowestMs}. */
const WEIGHT = 1 / 8;

/**
 * The connections to one origin that are kept. The one that was used last is the next to be used, so that
 * those that a peak has left close.
 */
class KeptConnections implements ConnectionKeeper {
  readonly all = new Set<Connection>();
  /** The one that was used last is the last. */
  readonly #idle: Connection[] = [];
  readonly #max: number;
  /** Duration of the slowest reply of late, which fades with each faster one. */
  #slowestMs = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get hasRoom(): boolean {
    return this.all.size < this.#max;
  }

  /** Returns an idle connection that is not too old, if there is one. */
  take(nowMs: number): Connection | undefined {
    let connection = this.#idle.pop();
    while (connection?.isTooOld(nowMs)) {
      this.#close(connection);
      connection = this.#idle.pop();
    }
    return connection;
  }

  /**
   * Returns how long to wait for the first byte on a connection that may be dead; `undefined` if a service as
   * slow as this one is given all the time: it would get its calls twice.
   */
  patienceMs(leftMs: number): number | undefined {
    const patienceMs = Math.max(Math.min(leftMs * PATIENCE, MAX_PATIENCE_MS), 2 * this.#slowestMs);
    return patienceMs <= leftMs / 2 ? patienceMs : undefined;
  }

  release(connection: Connection, tookMs: number): void {
    this.#slowestMs = Math.max(tookMs, this.#slowestMs + (tookMs - this.#slowestMs) * WEIGHT);
    this.#idle.push(connection);
  }

  closeUntrusted(): void {
    const nowMs = performance.now();
    const trusted = this.#idle.filter((connection) => connection.isTrusted(nowMs));
    for (const dead of this.#idle.splice(0, this.#idle.length, ...trusted))
      if (!dead.isTrusted(nowMs)) this.#close(dead);
  }

  remove(connection: Connection): void {
    this.all.delete(connection);
  }

  #close(connection: Connection): void {
    this.all.delete(connection);
    connection.close();
  }
}
