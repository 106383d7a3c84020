import type { ExecutionContext } from '@nestjs/common';
import type { SignInFailureCode } from '../contract/diagnostics.js';
import type { SessionAuthError } from '../contract/errors.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { CurrentUserRecord } from './current-user.decorator.js';
import { type GuardDenial, reportDenial } from './denial.js';

/** A decision of the guard about one call. Frozen, and without the token and the `X-AUTH-IV`. */
export interface SessionAuthDecision {
  /** Whether the handler is called, as far as this guard decides. */
  readonly isAllowed: boolean;
  /** Set with `reportOnly` if the guard would have denied the call, with this `code` and `rule`. */
  readonly wouldDeny?: true;
  /**
   * `authenticated`: the session is valid, and the rule is met. `unauthenticated`: there is no valid session;
   * `@OptionalAuth()` allows the call anyway. `forbidden`: the rule is not met, the service refuses the
   * application or the user, or a page of another origin sent the cookie. `unavailable`: the service gave no
   * usable answer, or the rule could not be evaluated (code `ACCESS_CHECK_FAILED`).
   */
  readonly outcome: 'authenticated' | 'unauthenticated' | 'forbidden' | 'unavailable';
  /** The code of the denial; absent if the call is allowed. */
  readonly code?: GuardDenial['code'] | SignInFailureCode;
  /** The requirement that is not met, or could not be evaluated: `@Roles(approver)`. */
  readonly rule?: string;
  /**
   * The kind of the call: `http`, `graphql`, `ws`, `rpc`, or another that the guard denies; `sign-in` for a
   * sign-in by `SessionAuthService` that fails, which has no user.
   */
  readonly kind: string;
  /** Name of the class of the handler. */
  readonly controller: string;
  /** Name of the method. */
  readonly handler: string;
  /** HTTP method of the request. */
  readonly method?: string;
  /** Path of the HTTP request, without its query. */
  readonly path?: string;
  /** Pattern of a message, as its decorator declares it. */
  readonly pattern?: string;
  /** The `id` of the request, if the platform or a middleware of the application sets one. */
  readonly requestId?: string | number;
  /** A copy of the user's record without its `auth_token`; absent without a valid session. */
  readonly user?: CurrentUserRecord;
  /** Time of the decision, in milliseconds since 1970. */
  readonly atMs: number;
}

interface DecisionSink {
  readonly observed: boolean;
  next(decision: SessionAuthDecision): void;
}

type Draft = { -readonly [Field in keyof SessionAuthDecision]?: SessionAuthDecision[Field] };

/** Reports the decisions of the guards of one registration. Builds nothing while there are no subscribers. */
export class DecisionReports {
  readonly sink: DecisionSink;
  /** A cached session has one record for all its calls. */
  readonly #copies = new WeakMap<UserRecord, CurrentUserRecord>();

  constructor(sink: DecisionSink) {
    this.sink = sink;
  }

  /** @param user absent if the rule allows calls without a session */
  allowed(context: ExecutionContext, user?: UserRecord): void {
    this.#report(context, user, { isAllowed: true, outcome: user ? 'authenticated' : 'unauthenticated' });
  }

  /** @param user present if the session is valid and the rule is not met */
  denied(
    context: ExecutionContext,
    { code, statusCode }: GuardDenial,
    user?: UserRecord,
    rule?: string,
    wouldDeny?: true,
  ): void {
    reportDenial({ code, rule, wouldDeny });
    if (!this.sink.observed) return;
    const decision: Draft = { isAllowed: wouldDeny === true, outcome: outcomeOf(statusCode), code };
    if (wouldDeny) decision.wouldDeny = true;
    if (rule !== undefined) decision.rule = rule;
    this.#report(context, user, decision);
  }

  /** The user name is not reported: it may be a password. */
  signInFailed(error: SessionAuthError): void {
    const code = error.code as SignInFailureCode;
    reportDenial({ code });
    const outcome = outcomeOf(error.statusCode);
    const place = { kind: 'sign-in', controller: 'SessionAuthService', handler: 'signIn' };
    if (this.sink.observed) this.#emit({ isAllowed: false, outcome, code, ...place });
  }

  #report(context: ExecutionContext, user: UserRecord | undefined, decision: Draft): void {
    // Assigned: after a spread at the start of a literal, V8 takes a microsecond for each member.
    decision.kind = context.getType<string>();
    decision.controller = context.getClass().name;
    decision.handler = context.getHandler().name;
    describeCall(decision, context);
    if (user) {
      decision.user = this.#copyOf(user);
    }
    this.#emit(decision);
  }

  #emit(decision: Draft): void {
    decision.atMs = Date.now();
    this.sink.next(Object.freeze(decision as SessionAuthDecision));
  }

  /** The token is neither a field nor enumerable, so that a copy does not have it. */
  #copyOf(user: UserRecord): CurrentUserRecord {
    const known = this.#copies.get(user);
    if (known) return known;
    const empty = Object.create(Object.getPrototypeOf(user) as object) as CurrentUserRecord;
    const copy = Object.freeze(Object.assign(empty, user));
    this.#copies.set(user, copy);
    return copy;
  }
}

/** A sign-in may fail with 400 or 429 too. */
function outcomeOf(status: number): SessionAuthDecision['outcome'] {
  if (status === 403) return 'forbidden';
  return status === 503 ? 'unavailable' : 'unauthenticated';
}

/** Nest's own names of the metadata of a message handler: of a microservice, and of a gateway. */
const PATTERNS = ['microservices:pattern', 'message'] as const;

/** Whatever the application put into the request can't harm. */
function describeCall(decision: Draft, context: ExecutionContext): void {
  const isHttp = decision.kind === 'http';
  if (isHttp || decision.kind === 'graphql') {
    const { method, originalUrl, url, id } = requestOf(context, isHttp);
    if (isHttp && typeof method === 'string') decision.method = method;
    const path = originalUrl ?? url;
    if (isHttp && typeof path === 'string') decision.path = path.split('?', 1)[0] ?? '';
    if (typeof id === 'string' || typeof id === 'number') decision.requestId = id;
    return;
  }
  for (const name of PATTERNS) {
    const pattern: unknown = Reflect.getMetadata(name, context.getHandler());
    if (pattern !== undefined)
      decision.pattern = [pattern]
        .flat()
        .map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
        .join(', ');
  }
}

type Request = Readonly<Partial<Record<'method' | 'originalUrl' | 'url' | 'id', unknown>>>;

function requestOf(context: ExecutionContext, isHttp: boolean): Request {
  const carrier: unknown = context.getArgByIndex(isHttp ? 0 : 2);
  return Object(isHttp ? carrier : (carrier as { readonly req?: unknown } | undefined)?.req) as Request;
}
