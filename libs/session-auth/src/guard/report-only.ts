import type { ExecutionContext } from '@nestjs/common';
import { ACCESS_DENIED } from '../contract/denials.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { isReportOnly } from './access-rule.js';
import { ruleOf } from './access-rules.js';
import { exceptionOf } from './denial.js';
import type { GuardRegistration, Reporter } from './guard-registration.js';
import { ADMISSION, CHECK } from './guarded-request.js';
import type { Handler } from './handlers.js';
import { type GuardedCall, type Transport, transportOf } from './transport.js';

/** Each context is one object for all guards of its call. */
const checked = new WeakSet<ExecutionContext>();

/**
 * Logs which handlers are open: all with the option, otherwise those with the decorator.
 * @throws InvalidConfigurationError if a handler is no route, or there are several session services
 */
export function reporterOf(
  handlers: readonly Handler[],
  isOption: boolean,
  isOneOfSeveral: boolean,
  log: { note(kind: string, text: string): void },
): Reporter {
  const covers: Reporter['covers'] = (rule) => isOption || isReportOnly(rule);
  const covered = handlers.filter((handler) => covers(ruleOf(handler)));
  const name = isOption ? 'reportOnly' : '@ReportOnly()';
  if (isOneOfSeveral)
    throw new InvalidConfigurationError(
      `${name} works with one session service only. Remove it, or the other registrations.`,
    );
  const other = covered.find(({ kinds }) => kinds.size > 1 || !kinds.has('route'));
  if (other)
    throw new InvalidConfigurationError(
      `${name} works with routes of controllers only, and ${nameOf(other)} is ${other.kinds.has('route') ? 'more than that' : 'none'}. Remove ${name}, or leave that handler out until then.`,
    );
  const open = isOption ? 'every handler' : covered.map(nameOf).join(', ');
  log.note(
    'report only',
    `SessionAuthGuard denies nothing, by ${name}: ${open} is open unless another guard denies it. Each decision in decisions$ says what it would have denied.`,
  );
  return { covers, report };
}

const nameOf = ({ owner, name }: Handler): string => `${owner.name}.${name}`;

/** The call does not wait for the decision, and keeps its request and its reply as they are. */
function report(
  context: ExecutionContext,
  registration: GuardRegistration,
  check: (call: GuardedCall) => unknown,
): void {
  if (checked.has(context)) return;
  checked.add(context);
  const call = transportOf(context)?.open(context);
  if (!call) {
    registration.decisions.denied(context, ACCESS_DENIED, undefined, undefined, true);
    return;
  }
  // A denial rejects. It is a decision already, and the call goes on.
  new Promise((resolve) => resolve(check(detached(call)))).catch(() => undefined);
}

const own = { value: undefined, writable: true };

function detached({ context, request, transport }: GuardedCall): GuardedCall {
  const copy = Object.create(request, { user: own, [CHECK]: own, [ADMISSION]: own }) as typeof request;
  const without: Transport = {
    ...transport,
    admitted: () => undefined,
    watch: () => undefined,
    deny: (_call, denial) => Promise.reject(exceptionOf(denial)),
  };
  return { context, request: copy, transport: without, reply: undefined, isReported: true };
}
