import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { AccessRule } from './access/access-rule.js';
import type { GuardParts } from './guard-parts.js';
import { SessionAuthGuard } from './session-auth.guard.js';

/** A guard whose parts only know the rule: whoever asks more of them fails. */
const guardWith = (rule: AccessRule): SessionAuthGuard => new SessionAuthGuard({ rules: { of: () => rule } } as unknown as GuardParts);

describe.each(['pigeon', '', '__proto__', 'HTTP'])('a call over what is unknown here (%j)', (type) => {
  const context = { getType: () => type } as unknown as ExecutionContext;

  it.each<AccessRule>([
    { kind: 'protected', requirements: [] },
    { kind: 'optional', requirements: [] },
  ])('to a handler that is $kind is denied, and nothing of it is read', async (rule) => {
    await expect(Promise.resolve(guardWith(rule).canActivate(context))).rejects.toMatchObject({
      response: { statusCode: 403, code: 'ACCESS_DENIED' },
    });
  });

  it('to a public handler passes', () => {
    expect(guardWith({ kind: 'public' }).canActivate(context)).toBe(true);
  });
});
