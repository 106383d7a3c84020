import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { AccessRule } from './access/access-rule.js';
import type { GuardParts } from './guard-parts.js';
import { SessionAuthGuard } from './session-auth.guard.js';

/** A guard whose parts have nothing but a rule, and take decisions: reading anything else throws. */
const guardWith = (rule: AccessRule): SessionAuthGuard =>
  new SessionAuthGuard({ rules: { of: () => rule }, decisions: { denied: () => undefined } } as unknown as GuardParts);

describe.each(['pigeon', '', '__proto__', 'HTTP'])('a call in a context of the unknown kind %j', (type) => {
  const context = { getType: () => type } as unknown as ExecutionContext;

  it.each<AccessRule>([
    { kind: 'protected', requirements: [] },
    { kind: 'optional', requirements: [] },
  ])('to a handler with the rule $kind is denied without being read', async (rule) => {
    await expect(Promise.resolve(guardWith(rule).canActivate(context))).rejects.toMatchObject({
      response: { statusCode: 403, code: 'ACCESS_DENIED' },
    });
  });

  it('to a public handler is admitted', () => {
    expect(guardWith({ kind: 'public' }).canActivate(context)).toBe(true);
  });
});
