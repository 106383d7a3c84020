import type { SessionAuthService } from 'nestjs-session-auth';
import { isSessionAuthError, SessionServiceUnavailableError } from 'nestjs-session-auth/errors';
import { isDeepStrictEqual } from 'node:util';
import type { CaseService } from './case-service.js';
import { expectedOf } from './oracle.js';
import type { Counts } from './runs.js';
import { PRESENTED_TOKEN, type Expected, type Outcome, type WireCase } from './wire-case.js';

/** The outcome of a check, and its user if it was let in. */
interface Observed {
  readonly outcome: Outcome | 'foreign error';
  readonly detail: unknown;
}

/** A case whose outcome the rules do not permit. */
export interface Mismatch {
  readonly wireCase: WireCase;
  readonly expected: Expected;
  readonly observed: Observed;
}

/** Longest that a check may take beyond its time, on a machine that has other things to do. */
const SLACK_MS = 30_000;

/**
 * The same library twice: one gives up soon, so that silence is cheap, and one waits, because a busy machine
 * can look silent.
 */
export interface Sessions {
  readonly hasty: SessionAuthService;
  readonly hastyMs: number;
  readonly patient: SessionAuthService;
  readonly patientMs: number;
}

/** Tries answers on the library, and counts the outcomes. */
export class Trial {
  readonly #service: CaseService;
  readonly #sessions: Sessions;
  readonly #counts: Counts;
  #tokens = 0;

  constructor(service: CaseService, sessions: Sessions, counts: Counts) {
    this.#service = service;
    this.#sessions = sessions;
    this.#counts = counts;
  }

  /** Tries one answer. */
  async run(wireCase: WireCase): Promise<Mismatch | undefined> {
    const { hasty, hastyMs, patient, patientMs } = this.#sessions;
    const expected = expectedOf(wireCase);
    let observed = await this.#check(hasty, hastyMs, wireCase, expected);
    // An answer that spoils its connection may also cost the next one on it, and that is no fault of the
    // library.
    for (
      let again = 0;
      again < 3 && observed.outcome === 'unavailable' && !isRight(observed, expected);
      again += 1
    ) {
      this.#counts.add('asked again');
      observed = await this.#check(patient, patientMs, wireCase, expected);
    }
    for (const what of ['answers', observed.outcome]) this.#counts.add(what);
    if (expected.permitted.length === 1) this.#counts.add('with one right outcome');
    return isRight(observed, expected) ? undefined : { wireCase, expected, observed };
  }

  async #check(
    sessions: SessionAuthService,
    timeoutMs: number,
    wireCase: WireCase,
    { end }: Expected,
  ): Promise<Observed> {
    const token = `token-${String((this.#tokens += 1)).padStart(8, '0')}`;
    this.#service.expect(token, wireCase, end);
    const check = sessions
      .verify(token)
      .then((user) => ({ outcome: 'allow', detail: valuesIn(user, token) }) as const, observedFrom);
    const observed = await within(check, timeoutMs + SLACK_MS);
    this.#service.remove(token);
    return observed ?? { outcome: 'foreign error', detail: 'no outcome long after the deadline' };
  }
}

async function within<Value>(work: Promise<Value>, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<undefined>((give) => (timer = setTimeout(() => give(undefined), ms)));
  const value = await Promise.race([work, end]);
  clearTimeout(timer);
  return value;
}

function isRight({ outcome, detail }: Observed, { permitted, user }: Expected): boolean {
  if (outcome === 'foreign error' || !permitted.includes(outcome)) return false;
  return outcome !== 'allow' || isDeepStrictEqual(detail, user);
}

function observedFrom(error: unknown): Observed {
  if (!isSessionAuthError(error)) return { outcome: 'foreign error', detail: error };
  const outcomes: Readonly<Record<string, Outcome>> = {
    SessionRejectedError: 'unauthenticated',
    AccessDeniedError: 'forbidden',
    SessionServiceUnavailableError: 'unavailable',
  };
  const wait = error instanceof SessionServiceUnavailableError ? error.retryAfterSeconds : 1;
  const isSound = Number.isInteger(wait) && wait >= 1 && wait <= 120;
  const outcome = isSound ? (outcomes[error.name] ?? 'foreign error') : 'foreign error';
  return {
    outcome,
    detail:
      error instanceof SessionServiceUnavailableError ? `${error.reason}, again in ${wait} s` : error.message,
  };
}

/** The fields of a user that have a value, the hidden token among them, as plain objects. */
function valuesIn(user: object & { readonly auth_token?: string | undefined }, presented: string): unknown {
  const named = user.auth_token === presented ? PRESENTED_TOKEN : user.auth_token;
  const fields = { ...user, ...(named !== undefined && { auth_token: named }) };
  return plain(fields);
}

function plain(value: object): object {
  const entries = Object.entries(value) as [string, unknown][];
  const present = entries.filter(([, item]) => item !== undefined);
  return Object.fromEntries(
    present.map(([name, item]) => [name, typeof item === 'object' && item !== null ? plain(item) : item]),
  );
}
