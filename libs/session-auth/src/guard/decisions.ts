import type { ExecutionContext } from '@nestjs/common';
import type { UserRecord } from '../contract/record/user-record.js';
import type { CurrentUserRecord } from './current-user.decorator.js';
import type { GuardDenial } from './denial.js';

/** A decision of the guard about one call. Frozen, and without the token and the `X-AUTH-IV`. */
export interface SessionAuthDecision {
  /** Whether the handler is called, as far as this guard decides. */
  readonly isAllowed: boolean;
  /**
   * `authenticated`: the session is valid, and the rule is met. `unauthenticated`: there is no valid session;
   * `@OptionalAuth()` allows the call anyway. `forbidden`: the rule is not met, the service refuses the
   * application or the user, or a page of another origin sent the cookie. `unavailable`: the service gave no
   * usable answer, or the rule could not be evaluated (code `ACCESS_CHECK_FAILED`).
   */
  readonly outcome: 'authenticated' | 'unauthenticated' | 'forbidden' | 'unavailable';
  /** The code of the denial; absent if the call is allowed. */
  readonly code?: GuardDenial['code'];
  /** Name of the authority that decided: 'default', or the name of a session service. */
  readonly authority: string;
  /** The kind of the call: `http`, `graphql`, `ws`, `rpc`, or another that the guard denies. */
  readonly kind: string;
  /** Name of the class of the handler. */
  readonly controller: string;
  /** Name of the method. */
  readonly handler: string;
  /** A copy of the user's record without its `auth_token`; absent without a valid session. */
  readonly user?: CurrentUserRecord;
  /**
   * Who acts as the user: the field of the record that the option `impersonatorField` names, if it is set.
   */
  readonly impersonator?: string | number;
  /** Time of the decision, in milliseconds since 1970. */
  readonly atMs: number;
}

/** Receives decisions. */
interface DecisionSink {
  readonly observed: boolean;
  next(decision: SessionAuthDecision): void;
}

/** Settings of {@link Decisions}. */
interface DecisionSettings {
  /** Name of the authority. */
  readonly authority: string;
  /** Field of the user record. */
  readonly impersonatorField: string | undefined;
}

type Result = Pick<SessionAuthDecision, 'isAllowed' | 'outcome' | 'code'>;

const OUTCOME_OF_STATUS = { 401: 'unauthenticated', 403: 'forbidden', 503: 'unavailable' } as const;

/** Reports the decisions of the guards of one authority. Builds nothing while there are no subscribers. */
export class Decisions {
  readonly #sink: DecisionSink;
  readonly #settings: DecisionSettings;
  /** A cached session has one record for all its calls. */
  readonly #copies = new WeakMap<UserRecord, CurrentUserRecord>();

  constructor(sink: DecisionSink, settings: DecisionSettings) {
    this.#sink = sink;
    this.#settings = settings;
  }

  /** Reports that a call is allowed. @param user absent if the rule allows calls without a session */
  allowed(context: ExecutionContext, user?: UserRecord): void {
    if (this.#sink.observed)
      this.#report(context, { isAllowed: true, outcome: user ? 'authenticated' : 'unauthenticated' }, user);
  }

  /** Reports that a call is denied. @param user present if the session is valid and the rule is not met */
  denied(context: ExecutionContext, { code, statusCode }: GuardDenial, user?: UserRecord): void {
    if (this.#sink.observed)
      this.#report(context, { isAllowed: false, outcome: OUTCOME_OF_STATUS[statusCode], code }, user);
  }

  #report(context: ExecutionContext, result: Result, user: UserRecord | undefined): void {
    const decision: { -readonly [Field in keyof SessionAuthDecision]: SessionAuthDecision[Field] } = {
      isAllowed: result.isAllowed,
      outcome: result.outcome,
      authority: this.#settings.authority,
      kind: context.getType<string>(),
      controller: context.getClass().name,
      handler: context.getHandler().name,
      atMs: Date.now(),
    };
    // Assigned: after a spread at the start of a literal, V8 takes a microsecond for each member.
    if (result.code !== undefined) decision.code = result.code;
    if (user) {
      decision.user = this.#copyOf(user);
      const impersonator = this.#impersonatorOf(user);
      if (impersonator !== undefined) decision.impersonator = impersonator;
    }
    this.#sink.next(Object.freeze(decision));
  }

  #impersonatorOf(user: UserRecord): string | number | undefined {
    const value = (user as Readonly<Record<string, unknown>>)[this.#settings.impersonatorField ?? ''];
    return (typeof value === 'string' && value !== '') || typeof value === 'number' ? value : undefined;
  }

  /** The token is neither a field nor enumerable, so that a copy does not have it. */
  #copyOf(user: UserRecord): CurrentUserRecord {
    const existing = this.#copies.get(user);
    if (existing) return existing;
    const empty = Object.create(Object.getPrototypeOf(user) as object) as CurrentUserRecord;
    const copy = Object.freeze(Object.assign(empty, user));
    this.#copies.set(user, copy);
    return copy;
  }
}
