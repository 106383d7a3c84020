import { type ServerResponse } from 'node:http';
import type { CheckMessage, LaneName } from 'nestjs-session-auth/diagnostics';
import { type MarkKind } from '../messages.js';
import { kindOf } from './check-kind.js';
import { type SessionAnswers } from './session-answers.js';

/**
 * The header of a reply that says who answered the check of the session: the cache, with the age of the
 * answer, a call, or the breaker.
 */
const ANSWERED_BY = 'X-Answered-By';

/** One request to the backend, with the library's messages about it. */
export class TracedRequest {
  readonly lane: LaneName;
  #check: CheckMessage | undefined;
  #isDenied = false;
  /** The request whose call this one joined. */
  joinedTo: number | undefined;

  constructor(
    readonly id: number,
    readonly digest: string | undefined,
    readonly answers: SessionAnswers,
    private readonly response: ServerResponse,
  ) {
    this.lane = digest !== undefined && answers.isKnown(digest) ? 'known' : 'strangers';
  }

  /** Records the check, and says in the reply who answered it. */
  checked(check: CheckMessage): void {
    this.#check = check;
    if (!this.response.headersSent) this.response.setHeader(ANSWERED_BY, this.#answeredBy(check));
  }

  /** Records that the guard denied the request. */
  denied(): void {
    this.#isDenied = true;
  }

  /** The outcome of the request; `open`: it needed no session. */
  get kind(): MarkKind {
    const kind = this.#check && kindOf(this.#check);
    if (kind === 'unavailable' || kind === 'turnedBack') return kind;
    return this.#isDenied ? 'denied' : (kind ?? 'open');
  }

  #answeredBy({ source, joined, stale, outcome, reason }: CheckMessage): string {
    if (outcome === 'unavailable') return reason === 'circuit_open' ? 'breaker' : 'none';
    if (source !== 'cache') return joined ? 'joined' : 'service';
    const age = this.digest === undefined ? undefined : this.answers.ageOf(this.digest);
    return [
      'cache',
      ...(age === undefined ? [] : [`age=${(age / 1_000).toFixed(1)}`]),
      ...(stale ? ['stale'] : []),
    ].join('; ');
  }
}
