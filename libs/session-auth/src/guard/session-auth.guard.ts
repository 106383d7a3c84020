import { Inject, Injectable, Optional, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ACCESS_CHECK_FAILED, ACCESS_DENIED } from '../contract/denials.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { Verdict } from '../contract/outcome.js';
import {
  type CheckedRule,
  meetsAll,
  reasonOf,
  type Requirement,
  type RuledCall,
  type RuleResult,
  subjectOf,
} from './access-rule.js';
import { GUARD_REGISTRATION, rejectMissingModule, type GuardRegistration } from './guard-registration.js';
import { markSessionAuthGuard } from './enhancers.js';
import { ADMISSION, attach, CHECK, isAdmitted } from './guarded-request.js';
import type { SessionCheck } from '../verifier/session-verifier.js';
import { denialOfVerdict, exceptionOf, type GuardDenial, type RuleAnswer, ruleAnswerOf } from './denial.js';
import { keepFromSharedCaches, type GuardedCall, transportOf } from './transport.js';

/**
 * Admits calls of controllers, resolvers, gateways and message handlers that present a valid session and meet
 * the rule of the handler. `@CurrentUser()` injects the user's record, which is also `request.user` over
 * HTTP. Other calls are denied with 401, 403 or 503 in the form of their context, and never reach the
 * handler. A context of an unknown kind is denied, with a warning that names it.
 *
 * @example
 * ```ts
 * class Openings { @Get() @UseGuards(SessionAuthGuard) list() {} }
 * ```
 */
@Injectable()
export class SessionAuthGuard implements CanActivate {
  private readonly registration: GuardRegistration;

  /**
   * @internal Created by Nest. The registration is optional so that a module without one gets a message that
   * says what to import.
   * @throws InvalidConfigurationError if the module does not reach `SessionAuthModule`
   */
  constructor(
    @Optional() @Inject(GUARD_REGISTRATION) registration: GuardRegistration | undefined,
    @Optional() @Inject(ModulesContainer) modules?: ModulesContainer,
  ) {
    this.registration = registration ?? rejectMissingModule(new.target, modules);
  }

  /**
   * Returns `true`, without a promise if the session is cached and no requirement of the rule is
   * asynchronous. A subclass may return `false`.
   * @throws SessionRejectedError (401), AccessDeniedError (403), SessionServiceUnavailableError or
   * AccessCheckFailedError (503), or the `HttpException` of a rule, over HTTP and in GraphQL; WsException in
   * a gateway, RpcException in a message handler
   */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return this.activate(context);
  }

  /**
   * Admits a call by another way than a session, such as a key of the application: `return
   * this.admitAs(context, record)` in the `canActivate()` of a subclass. The rules of the handler are checked
   * on the record, which is `request.user`. No service is called, `@AuthToken()` is `undefined`, and
   * `@FreshSession()` is met. With `@Public()`, attaches no user. Without a record, checks the session.
   * @throws as `canActivate()`, if the record does not meet a rule
   */
  protected admitAs(context: ExecutionContext, record: UserRecord): boolean | Promise<boolean> {
    return this.activate(context, record);
  }

  private activate(context: ExecutionContext, record?: UserRecord): boolean | Promise<boolean> {
    const { rules, registrations } = this.registration;
    const rule = rules.of(context);
    if (rule.kind === 'public') return true;
    const registration = registrations ? registrations.registrationOf(context.getClass()) : this.registration;
    if (registration === this.registration) return this.check(context, rule, record);
    if (!registration) return this.denyUnplaced(context);
    const other = Object.create(this, { registration: { value: registration } }) as this;
    // The option `loadUser` of the other registration is part of its rule.
    return other.check(context, registration.rules.of(context) as CheckedRule, record);
  }

  /** The handler belongs to no session service, so its token is not read. */
  private denyUnplaced(context: ExecutionContext): Promise<never> {
    const { causes, reader } = this.registration;
    causes.occurred('no registration', context.getClass().name);
    const call = transportOf(context)?.open(context);
    keepFromSharedCaches(call?.reply, reader.vary);
    return call ? this.deny(call, ACCESS_DENIED) : denyClosed(context, this.registration);
  }

  private check(
    context: ExecutionContext,
    rule: CheckedRule,
    record: UserRecord | undefined,
  ): boolean | Promise<boolean> {
    const { reportOnly } = this.registration;
    if (reportOnly?.covers(rule)) {
      reportOnly.report(context, this.registration, (call) => this.admit(call, rule, record));
      return true;
    }
    const call = transportOf(context)?.open(context);
    return call ? this.admit(call, rule, record) : denyClosed(context, this.registration);
  }

  private admit(call: GuardedCall, rule: CheckedRule, record?: UserRecord): true | Promise<true> {
    const { context, request } = call;
    const { reader, verifier } = this.registration;
    if (!record && request[ADMISSION] && isAdmitted(request, verifier, context)) return true;
    keepFromSharedCaches(call.reply, reader.vary);
    if (record) return this.admitUser(call, rule, record);
    const session = reader.read(context, request);
    if ('code' in session) {
      call.transport.unread?.(call, this.registration.causes);
      return this.refuse(call, rule, session);
    }
    // The guards of one request share a check, as long as it is fresh enough for the rule of each.
    const check = verifier.check(session, rule.maxAgeMs, request[CHECK] ?? request[ADMISSION]?.check);
    const { verdict } = check;
    if (!(verdict instanceof Promise)) return this.decide(call, rule, check, verdict);
    request[CHECK] = check;
    return verdict.then((settled) => this.decide(call, rule, check, settled));
  }

  private decide(
    call: GuardedCall,
    rule: CheckedRule,
    check: SessionCheck<UserRecord>,
    verdict: Verdict<UserRecord>,
  ): true | Promise<true> {
    return verdict.kind === 'authenticated'
      ? this.admitUser(call, rule, verdict.user, check, verdict.stale)
      : this.refuse(call, rule, denialOfVerdict(verdict));
  }

  /** Denies a call, unless it only lacks a valid session, and its rule allows that. */
  private refuse(call: GuardedCall, rule: CheckedRule, denial: GuardDenial): true | Promise<true> {
    if (rule.kind === 'optional' && denial.statusCode === 401) return this.enter(call);
    return this.deny(call, denial);
  }

  private admitUser(
    call: GuardedCall,
    { requirements }: CheckedRule,
    user: UserRecord,
    check?: SessionCheck<UserRecord>,
    stale?: true,
  ): true | Promise<true> {
    const { context, request } = call;
    const timeoutMs = this.registration.ruleTimeoutMs;
    const caller: Caller = { requirements, user, check, stale, context, request, timeoutMs };
    if (requirements.length === 0) return this.enter(call, caller);
    const met = meetsAll(caller);
    return met instanceof Promise
      ? met.then((settled) => this.conclude(call, caller, settled))
      : this.conclude(call, caller, met);
  }

  /**
   * An `HttpException` of a rule is the answer. One with 5xx, and any other error, is a failure of the rule,
   * which is logged.
   */
  private conclude(call: GuardedCall, caller: Caller, met: RuleResult): true | Promise<true> {
    const { requirements, user } = caller;
    if (met === true) {
      this.reportEvaluated(call, requirements);
      return this.enter(call, caller);
    }
    const { requirement, failure } = met;
    const answer = failure && ruleAnswerOf(failure.error);
    const failed = answer && answer.statusCode < 500 ? undefined : failure;
    const index = requirements.indexOf(requirement);
    this.reportEvaluated(call, requirements.slice(0, failed ? index : index + 1));
    if (failed) {
      const subject = subjectOf(requirement, call.context);
      const effect = call.isReported ? 'pass, and get 503 without reportOnly' : 'get 503';
      this.registration.causes.occurred('rule failed', subject, `${subject} ${reasonOf(failed)}`, effect);
    }
    return this.deny(call, failed ? ACCESS_CHECK_FAILED : ACCESS_DENIED, user, requirement.text, answer);
  }

  private reportEvaluated({ context }: GuardedCall, requirements: readonly Requirement[]): void {
    const { causes } = this.registration;
    if (causes.areNone) return;
    for (const each of requirements) causes.recovered('rule failed', subjectOf(each, context));
  }

  private enter(
    call: GuardedCall,
    { user, localUser, check, stale }: Partial<Caller> = {},
  ): true | Promise<never> {
    const { verifier, decisions } = this.registration;
    const { context, request, transport } = call;
    const revocations = verifier.revoker.count;
    const isBySubclass = this.constructor !== SessionAuthGuard;
    const session = check?.session;
    attach(request, { verifier, revocations, context, user, localUser, session, check, isBySubclass }, stale);
    transport.admitted?.(call);
    const denial = session && transport.watch?.(call, this.registration);
    if (denial) return this.deny(call, denial, user);
    if (decisions.sink.observed) decisions.allowed(context, user);
    return true;
  }

  /** @param answer the response to the caller in place of that of the denial */
  private deny(
    call: GuardedCall,
    denial: GuardDenial,
    user?: UserRecord,
    rule?: string,
    answer: GuardDenial | RuleAnswer = denial,
  ): Promise<never> {
    this.registration.decisions.denied(call.context, denial, user, rule, call.isReported);
    return call.transport.deny(call, answer, this.registration.reader.challenge);
  }
}

/** A caller whom a session, or a subclass of the guard, authenticates. */
interface Caller extends RuledCall {
  /** Absent if a subclass admits the call by another way. */
  readonly check: SessionCheck<UserRecord> | undefined;
  readonly stale: true | undefined;
}

const KINDS_OF_NEST: ReadonlySet<string> = new Set(['graphql', 'rpc', 'ws']);

/** Denies a call whose kind of context is not open: the library does not know how it presents a session. */
function denyClosed(context: ExecutionContext, registration: GuardRegistration): Promise<never> {
  const kind = context.getType<string>();
  const remedy = KINDS_OF_NEST.has(kind)
    ? `Add SessionAuthModule.contextKind('${kind}') to plugins: their handlers have no decorator of Nest, by which the library recognises them.`
    : 'Check them with a guard of your own, and mark their handlers @Public().';
  registration.causes.occurred('closed context', kind, kind, remedy);
  registration.decisions.denied(context, ACCESS_DENIED);
  return Promise.reject(exceptionOf(ACCESS_DENIED));
}

markSessionAuthGuard(SessionAuthGuard);
