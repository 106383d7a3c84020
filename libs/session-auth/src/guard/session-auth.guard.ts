import 'reflect-metadata';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/user-record.js';
import type { Verdict } from '../contract/verdict.js';
import { meetsAll, type AccessRule } from './access-rule.js';
import { GUARD_PARTS, type GuardParts } from './guard-parts.js';
import { attachNobody, attachUser, findChecked, keepChecked } from './guarded-request.js';
import { httpArguments, type HttpRequest } from './http-request.js';
import { exceptionOf, FORBIDDEN, TOKEN_REFUSED, TOKEN_REQUIRED, unavailableDenial, type HttpDenial } from './http-denial.js';
import { keepFromSharedCaches, setHeaders } from './http-reply.js';
import { MALFORMED_TOKEN, NO_TOKEN } from './presented-session.js';

/** One request on its way to a handler that is not open to everyone. */
interface Call {
  readonly context: ExecutionContext;
  readonly rule: Exclude<AccessRule, { kind: 'public' }>;
  readonly request: HttpRequest;
  readonly reply: unknown;
}

/**
 * Lets in whoever presents a valid session and meets the handler's rule; attaches the user's record to `request.user`.
 * Everyone else gets 401, 403 or 503, never a handler: the promise is rejected with Nest's exception for that status.
 */
@Injectable()
export class SessionAuthGuard implements CanActivate {
  constructor(@Inject(GUARD_PARTS) private readonly parts: GuardParts) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const rule = this.parts.rules.of(context);
    if (rule.kind === 'public') return true;
    if (context.getType() !== 'http') return Promise.reject(exceptionOf(FORBIDDEN));

    const [request, reply] = httpArguments(context);
    const call: Call = { context, rule, request, reply };
    keepFromSharedCaches(call.reply, this.parts.presented.vary);
    const session = this.parts.presented.read(context, call.request);
    if (session === NO_TOKEN) return this.admitAnonymous(call, TOKEN_REQUIRED);
    if (session === MALFORMED_TOKEN) return this.admitAnonymous(call, TOKEN_REFUSED);
    const verdict = this.check(call, session);
    return verdict instanceof Promise ? verdict.then((settled) => this.admit(call, settled)) : this.admit(call, verdict);
  }

  /** One check a request, however many guards ask. */
  private check({ request, rule }: Call, session: SessionIdentity): Verdict<UserRecord> | Promise<Verdict<UserRecord>> {
    const { verifier } = this.parts;
    const checked = findChecked(request, verifier, session);
    if (checked) return checked.verdict;
    const verdict = verifier.verify(session, rule.kind === 'protected' ? rule.maxAgeMs : undefined);
    keepChecked(request, { verifier, identity: session, verdict, admitted: false });
    return verdict;
  }

  private admit(call: Call, verdict: Verdict<UserRecord>): true | Promise<true> {
    if (verdict.kind === 'rejected') return this.admitAnonymous(call, TOKEN_REFUSED);
    if (verdict.kind === 'denied') return this.deny(call, FORBIDDEN);
    if (verdict.kind === 'unavailable') return this.deny(call, unavailableDenial(verdict));

    const meets = meetsAll(call.rule.requirements, verdict.user, call.context);
    if (meets instanceof Promise) return meets.then((met) => (met ? this.enter(call, verdict) : this.deny(call, FORBIDDEN)));
    return meets ? this.enter(call, verdict) : this.deny(call, FORBIDDEN);
  }

  private enter({ request }: Call, accepted: Verdict<UserRecord> & { kind: 'accepted' }): true {
    attachUser(request, accepted);
    return true;
  }

  private admitAnonymous(call: Call, denial: HttpDenial): true | Promise<never> {
    if (call.rule.kind !== 'optional') return this.deny(call, denial);
    attachNobody(call.request);
    return true;
  }

  /** Rejects, because Nest takes that at half the price of a throw. */
  private deny({ reply }: Call, denial: HttpDenial): Promise<never> {
    setHeaders(reply, denial.headers);
    return Promise.reject(exceptionOf(denial));
  }
}
