import type { ExecutionContext } from '@nestjs/common';

/** What a call is about, by name: parameters of its route. */
export function callParameters(context: ExecutionContext): Readonly<Record<string, unknown>> {
  const { params } = context.switchToHttp().getRequest<{ readonly params?: Readonly<Record<string, unknown>> }>();
  return params ?? {};
}
