import type { ExecutionContext } from '@nestjs/common';
import { AccessRules } from '../guard/access-rules.js';
import type { CurrentRequestUser } from '../guard/current-user.decorator.js';
import { ADMISSION, type Admission, attachedUserOf } from '../guard/guarded-request.js';
import { transportOf } from '../guard/transport.js';

/**
 * Returns the user of a call, for guards, interceptors and decorators of your own, in every kind of context.
 * `undefined` if the guard has not admitted this call, or has admitted it without a session. Guards that run
 * before `SessionAuthGuard` get `undefined`. The user is the one that the guard attached, even if another guard
 * has replaced `request.user` since.
 */
export function currentUserOf(context: ExecutionContext): CurrentRequestUser | undefined {
  const admission = admissionOf(context);
  const user: unknown = admission && attachedUserOf(admission);
  return user as CurrentRequestUser | undefined;
}

/**
 * Returns the admission of a call by the guard. A request may carry the admission to another handler: two
 * fields of one operation share it, and so do two routes if the first calls `next()`.
 */
function admissionOf(context: ExecutionContext): Admission | undefined {
  const admission = transportOf(context)?.requestOf(context)?.[ADMISSION];
  if (admission?.context === context) return admission;
  const isSameCall =
    admission?.context.getHandler() === context.getHandler() &&
    admission.context.getClass() === context.getClass();
  return isSameCall ? admission : undefined;
}

const rules = new AccessRules();

/**
 * Returns the access that the decorators of a handler and its controller declare, for guards and interceptors
 * of your own: `public` with `@Public()`, `optional` with `@OptionalAuth()`, otherwise `protected`, by whatever
 * guard. A guard of yours that reads the user lets `public` handlers pass.
 */
export function accessOf(context: ExecutionContext): 'public' | 'optional' | 'protected' {
  return rules.of(context).kind;
}
