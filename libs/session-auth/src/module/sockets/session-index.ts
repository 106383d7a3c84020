import type { GuardDenial } from '../../guard/http-denial.js';

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
