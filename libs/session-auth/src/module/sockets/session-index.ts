import type { GuardDenial } from '../../guard/denial.js';
import type { EngineConnection, SocketIoSocket } from './socket-io-server.js';

/** Something that must not outlive its session. */
export interface EndsWithSession {
  end(denial: GuardDenial): void;
}

/** What is open for each session, by the fingerprint of its token. */
export class SessionIndex<Member extends EndsWithSession> {
  readonly #members = new Map<string, Set<Member>>();
  #size = 0;

  /** How many members all sessions have. */
  get size(): number {
    return this.#size;
  }

  /** How many members one session has. */
  countOf(fingerprint: string): number {
    return this.#members.get(fingerprint)?.size ?? 0;
  }

  add(fingerprint: string, member: Member): void {
    const members = this.#members.get(fingerprint) ?? new Set();
    this.#members.set(fingerprint, members.add(member));
    this.#size += 1;
  }

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

  /** Ends the members of all sessions that pass a test. It looks at each. */
  endWhere(test: (member: Member) => boolean, denial: GuardDenial): void {
    endAll(this.all().filter(test), denial);
  }

  /** The members of all sessions, as they are now. */
  all(): Member[] {
    return [...this.#members.values()].flatMap((members) => [...members]);
  }
}

/** A listener of the application that throws keeps no other member open: its error is thrown at the end. */
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

/** A handshake that has begun and whose socket is not open yet. */
export interface UnfinishedHandshake {
  /** Names what to end when the connection closes, or when the next handshake takes this one's place. */
  endsWith(part: EndsWithSession): void;
  finish(): void;
}

interface Place extends UnfinishedHandshake {
  readonly socket: SocketIoSocket;
  part: EndsWithSession | undefined;
}

/**
 * The unfinished handshakes of each connection: one for each namespace, because a client may send as many CONNECT packets as it likes. They end
 * with their connection, of which socket.io tells no socket that is not open.
 */
export class UnfinishedHandshakes {
  readonly #connections = new WeakMap<EngineConnection, Map<object, Place>>();
  readonly #denial: GuardDenial;

  /** `denial` is what a handshake gets that ends before its time. */
  constructor(denial: GuardDenial) {
    this.#denial = denial;
  }

  begin(socket: SocketIoSocket): UnfinishedHandshake {
    const places = this.#placesOf(socket.conn);
    places.get(socket.nsp)?.part?.end(this.#denial);
    const place: Place = {
      socket,
      part: undefined,
      endsWith: (part) => (place.part = part),
      finish: () => {
        if (places.get(socket.nsp) === place) places.delete(socket.nsp);
      },
    };
    places.set(socket.nsp, place);
    return place;
  }

  /** The socket is open. */
  finish(socket: SocketIoSocket): void {
    const place = this.#connections.get(socket.conn)?.get(socket.nsp);
    if (place?.socket === socket) place.finish();
  }

  #placesOf(connection: EngineConnection): Map<object, Place> {
    const known = this.#connections.get(connection);
    if (known) return known;
    const places = new Map<object, Place>();
    this.#connections.set(connection, places);
    connection.once('close', () => {
      for (const { part } of [...places.values()]) part?.end(this.#denial);
    });
    return places;
  }
}
