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

  /** Ends all members of one session. A listener of the application that throws keeps none of them open: its error is reported at last. */
  end(fingerprint: string, denial: GuardDenial): void {
    const errors: unknown[] = [];
    for (const member of this.#members.get(fingerprint) ?? []) {
      try {
        member.end(denial);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /** The members of all sessions, as they are now. */
  all(): Member[] {
    return [...this.#members.values()].flatMap((members) => [...members]);
  }
}
