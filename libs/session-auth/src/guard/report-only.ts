import type { ExecutionContext } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ACCESS_DENIED } from '../contract/denials.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { exceptionOf } from './denial.js';
import type { CallGuard, GuardParts, ReportOnly } from './guard-parts.js';
import { ADMISSION, CHECK } from './guarded-request.js';
import { placedHandlersOf } from './handlers.js';
import { type GuardedCall, type Transport, transportOf } from './transport.js';

/** Each context is one object for all guards of its call. */
const checked = new WeakSet<ExecutionContext>();

/**
 * Returns what checks calls in place of the guard. Warns that every handler is open, and rejects what would be
 * open, or checked otherwise, beside `reportOnly`.
 * @throws InvalidConfigurationError naming it
 */
export function reporterOf(
  modules: ModulesContainer,
  isOneOfSeveral: boolean,
  log: { note(kind: string, text: string): void },
): ReportOnly {
  if (isOneOfSeveral)
    throw new InvalidConfigurationError(
      'reportOnly works with one session service only. Remove it, or the other registrations and the option authority.',
    );
  const other = placedHandlersOf(modules).find(({ handler }) => !handler.kinds.has('route'))?.handler;
  if (other)
    throw new InvalidConfigurationError(
      `reportOnly works with routes of controllers only, and ${other.owner.name}.${other.name} is none. Remove reportOnly, or leave that handler out until then.`,
    );
  log.note(
    'report only',
    'reportOnly is set, so that SessionAuthGuard denies nothing: every handler is open unless another guard denies it. Each decision in decisions$ says what it would have denied.',
  );
  return reportOnly;
}

/** The call does not wait for the decision, and keeps its request and its reply as they are. */
function reportOnly(
  guard: CallGuard,
  context: ExecutionContext,
  parts: GuardParts,
  record?: UserRecord,
): void {
  if (checked.has(context)) return;
  checked.add(context);
  const call = transportOf(context)?.open(context);
  if (!call) {
    parts.decisions.denied(context, ACCESS_DENIED);
    return;
  }
  // A denial rejects. It is a decision already, and the call goes on.
  new Promise((resolve) => resolve(guard.admit(detached(call), record))).catch(() => undefined);
}

const own = { value: undefined, writable: true };

/** Returns a call whose admission or denial has no effect. */
function detached({ context, request, transport }: GuardedCall): GuardedCall {
  const copy = Object.create(request, { user: own, [CHECK]: own, [ADMISSION]: own }) as typeof request;
  const without: Transport = {
    ...transport,
    admitted: () => undefined,
    watch: () => undefined,
    deny: (_call, denial) => Promise.reject(exceptionOf(denial)),
  };
  return { context, request: copy, transport: without, reply: undefined };
}
