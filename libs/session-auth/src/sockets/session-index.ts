import type { GuardDenial } from '../guard/denial.js';
import type { EngineConnection, SocketIoSocket } from './socket-io-server.js';

/** An object that must not outlive its session. */
export interface EndsWithSession {
  /** Ends it with a denial. */
  end(denial: GuardDenial): void;
}

/** Objects by session. The key is the fingerprint of the token. */
export class SessionIndex<Member extends EndsWithSession> {
  readonly #members = new Map<string, Set<Member>>();
  #size = 0;

  /** Number of members of all sessions. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of members of one session. */
  countOf(fingerprint: string): number {
    return this.#members.get(fingerprint)?.size ?? 0;
  }

  /** Adds a member to a session. */
  add(fingerprint: string, member: Member): void {
    const members = this.#members.get(fingerprint) ?? new Set();
    this.#members.set(fingerprint, members.add(member));
    this.#size += 1;
  }

  /** Removes a member of a session. */
  delete(fingerprint: string, member: Member): void {
    const members = this.#members.get(fingerprint);
    if (!members?.delete(member)) return;
    this.#size -= 1;
    if (members.size === 0) this.#members.delete(fingerprint);
  }

  /** Ends all members of one session. */
  end(fingerprint: string, denial: GuardDenial): void {
    endAll(this.#members.get(fingerprint) ?? [], denial);
  }

  /** Ends the members that pass a test, of all sessions. Tests every member. */
  endWhere(test: (member: Member) => boolean, denial: GuardDenial): void {
    endAll(this.all().filter(test), denial);
  }

  /** Returns a copy of the list of all members. */
  all(): Member[] {
    return [...this.#members.values()].flatMap((members) => [...members]);
  }
}

/** Ends all members even if a listener of the application throws: its error is thrown at the end. */
function endAll(members: Iterable<EndsWithSession>, denial: GuardDenial): void {
  const errors: unknown[] = [];
  for (const member of members) {
    try {
      member.end(denial);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** A handshake that has begun, and whose socket is not open yet. */
export interface UnfinishedHandshake {
  /** Sets the object to end when the connection closes, or when another handshake replaces this one. */
  endsWith(target: EndsWithSession): void;
  /** Removes the handshake, because its socket is open or denied. */
  finish(): void;
}

interface Slot extends UnfinishedHandshake {
  readonly socket: SocketIoSocket;
  target: EndsWithSession | undefined;
}

/**
 * The unfinished handshakes of each connection: at most one per namespace, because a client may send any
 * number of CONNECT packets. They end when their connection closes, because socket.io does not notify sockets
 * that are not open.
 */
export class UnfinishedHandshakes {
  readonly #connections = new WeakMap<EngineConnection, Map<object, Slot>>();
  readonly #denial: GuardDenial;

  /** @param denial for handshakes that end early */
  constructor(denial: GuardDenial) {
    this.#denial = denial;
  }

  /** Begins a handshake. Ends an unfinished one of the same connection and namespace. */
  begin(socket: SocketIoSocket): UnfinishedHandshake {
    const slots = this.#slotsOf(socket.conn);
    slots.get(socket.nsp)?.target?.end(this.#denial);
    const slot: Slot = {
      socket,
      target: undefined,
      endsWith: (target) => (slot.target = target),
      finish: () => {
        if (slots.get(socket.nsp) === slot) slots.delete(socket.nsp);
      },
    };
    slots.set(socket.nsp, slot);
    return slot;
  }

  /** Finishes the handshake of a socket that is open. */
  finish(socket: SocketIoSocket): void {
    const slot = this.#connections.get(socket.conn)?.get(socket.nsp);
    if (slot?.socket === socket) slot.finish();
  }

  #slotsOf(connection: EngineConnection): Map<object, Slot> {
    const existing = this.#connections.get(connection);
    if (existing) return existing;
    const slots = new Map<object, Slot>();
    this.#connections.set(connection, slots);
    connection.once('close', () => {
      for (const { target } of [...slots.values()]) target?.end(this.#denial);
    });
    return slots;
  }
}
