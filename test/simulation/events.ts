import type { Checker } from './checker.js';
import { digestOf } from './deliveries.js';
import type { Host } from './host.js';
import type { LibraryEvent } from './instance.js';
import type { Network, Publication } from './network.js';
import type { Plan } from './plan.js';
import type { RevocationRecord } from './records.js';
import type { World } from './world.js';

/** A socket that an accepted check has opened. The events of the library close it. */
interface Socket {
  readonly host: Host;
  readonly token: string;
  /** Its user, in the spelling of the service and of the record. */
  readonly names: readonly string[];
  readonly opened: number;
  isOpen: boolean;
}

/** A message that is older than this, in milliseconds, was captured and sent again. */
const OLD_MS = 600_000;
const MAX_SOCKETS = 40;
/** Messages that close sockets. */
const ENDING = new Set(['signedOut', 'userRevoked', 'allRevoked']);

/**
 * Compares the events of the library, and the sockets that they close, with its promises: an instance emits
 * each revocation of users once, also the instance that was called; a message of its own, and one that was
 * captured and sent again, cause none; a socket that was opened since a revocation on the same instance
 * stays; one that was open before it closes, there at once and elsewhere when the message arrives.
 */
export class Events {
  readonly #world: World;
  readonly #network: Network;
  readonly #checker: Checker;
  /** Whether the tables of the library are small, so that an overflow may revoke everything. */
  readonly #hasSmallLimits: boolean;
  /** Whether a lying store may date messages back. */
  readonly #mayDateBack: boolean;
  readonly #counts = new Map<string, number>();
  readonly #sockets: Socket[] = [];

  constructor(parts: { world: World; network: Network; checker: Checker; plan: Plan }) {
    this.#world = parts.world;
    this.#network = parts.network;
    this.#checker = parts.checker;
    this.#hasSmallLimits = parts.plan.limits !== undefined;
    this.#mayDateBack = parts.plan.lies?.aboutTime === true;
  }

  /** An accepted check opens a socket. */
  open(host: Host, token: string, names: readonly string[]): void {
    if (this.#sockets.length >= MAX_SOCKETS) this.#sockets.shift();
    this.#sockets.push({ host, token, names, opened: this.#world.nextSequence(), isOpen: true });
  }

  emitted(host: Host, event: LibraryEvent): void {
    const { arriving } = this.#network;
    const what = 'ended' in event ? 'the end of a session' : `the end of ${event.endedUsers ?? 'all'}`;
    this.#world.trace(() => `${host.name} emits ${what}`);
    if (arriving?.host === host && arriving.publication.host === host)
      this.#checker.fail(`own message: ${host.name} emits ${what} again`);
    if (arriving?.isRepeated === true && this.#world.nowMs - arriving.publication.sentAtMs > OLD_MS)
      this.#checker.fail(`replay: ${host.name} emits ${what} by an old message`);
    if ('endedUsers' in event) this.#count(host, event.endedUsers);
    this.#close(host, event);
  }

  /** Number of events that an instance has emitted for a revocation of users. */
  countOf(host: Host, username: string | undefined): number {
    return this.#counts.get(`${host.name} ${username ?? ''}`) ?? 0;
  }

  /** Checks that a call has emitted its event before it returned. */
  judgeCall({ kind, host, username }: RevocationRecord, before: readonly [number, number]): void {
    if (kind !== 'forgetUser' && kind !== 'forgetAll') return;
    const [own, all] = [this.countOf(host, username) - before[0], this.countOf(host, undefined) - before[1]];
    const isOnce = own === 1 || (this.#hasSmallLimits && all === 1);
    if (!isOnce) this.#checker.fail(`events: ${kind} on ${host.name} emits ${own} events`);
  }

  /** Checks that a message has closed the sockets that were open before it was sent. */
  judgeHandled(host: Host, publication: Publication): void {
    const { message, sent } = publication;
    if (!host.isAlive || publication.received.has(host) || this.#mayDateBack) return;
    if (
      host === publication.host ||
      host.isForeign !== publication.host.isForeign ||
      !ENDING.has(message.kind)
    )
      return;
    const stays = this.#sockets.find(
      (socket) => socket.isOpen && socket.host === host && socket.opened < sent && isOf(socket, message),
    );
    if (stays)
      this.#checker.fail(`sockets: one of ${stays.token} on ${host.name} is open after ${message.kind}`);
  }

  #count(host: Host, username: string | undefined): void {
    const count = this.countOf(host, username) + 1;
    this.#counts.set(`${host.name} ${username ?? ''}`, count);
    if (username === undefined && this.#hasSmallLimits) return;
    const kind = username === undefined ? 'forgetAll' : 'forgetUser';
    const causes = this.#checker.revocations.filter(
      (revocation) => revocation.kind === kind && revocation.username === username,
    ).length;
    if (count > causes)
      this.#checker.fail(
        `events: ${host.name} emits the end of ${username ?? 'all'} ${count} times for ${causes} calls`,
      );
  }

  #close(host: Host, event: LibraryEvent): void {
    const isEnded = (socket: Socket): boolean =>
      'ended' in event
        ? base64Of(event.ended) === digestOf(socket.token)
        : event.endedUsers === undefined || socket.names.includes(event.endedUsers);
    for (const socket of this.#sockets) {
      if (!socket.isOpen || socket.host !== host || !isEnded(socket)) continue;
      socket.isOpen = false;
      if ('endedUsers' in event && !this.#hasCause(socket, event.endedUsers))
        this.#checker.fail(`sockets: one of ${socket.token} on ${host.name}, opened since, is closed`);
    }
  }

  /**
   * Returns whether a revocation may close a socket: one on another instance, or one here that had not
   * settled when it was opened.
   */
  #hasCause({ host, opened }: Socket, username: string | undefined): boolean {
    if (this.#hasSmallLimits) return true;
    const kind = username === undefined ? 'forgetAll' : 'forgetUser';
    return this.#checker.revocations.some(
      (revocation) =>
        revocation.kind === kind &&
        revocation.username === username &&
        (revocation.host !== host || revocation.settled > opened),
    );
  }
}

/** A token key is a digest in Latin-1. */
function base64Of(tokenKey: string): string {
  return Buffer.from(tokenKey, 'latin1').toString('base64');
}

function isOf(
  socket: Socket,
  { kind, token, username }: { readonly kind: string; readonly token?: string; readonly username?: string },
): boolean {
  if (kind === 'signedOut') return digestOf(socket.token) === token;
  return username === undefined || socket.names.includes(username);
}
