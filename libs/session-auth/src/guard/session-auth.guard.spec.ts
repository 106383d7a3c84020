import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { AccessRule } from './access-rule.js';
import type { GuardParts } from './guard-parts.js';
import { Challenges } from './challenges.js';
import { exceptionOf } from './denial.js';
import { SessionAuthGuard } from './session-auth.guard.js';
import { type Transport, TRANSPORTS } from './transport.js';

/** A kind of context without replies. */
const WITHOUT_REPLY: Transport = {
  open: (context) => ({ transport: WITHOUT_REPLY, context, request: { headers: {} } }),
  requestOf: () => undefined,
  parameters: () => undefined,
  deny: (_call, denial) => Promise.reject(exceptionOf(denial)),
};

TRANSPORTS.set('ws', WITHOUT_REPLY);

/** A guard whose parts have nothing but a rule, and take decisions: reading anything else throws. */
const guardWith = (rule: AccessRule): SessionAuthGuard =>
  new SessionAuthGuard({
    rules: { of: () => rule },
    decisions: { denied: () => undefined },
    causes: { occurred: () => undefined },
  } as unknown as GuardParts);

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

describe('a call of an authority that does not exist', () => {
  const reply = { getHeader: () => undefined, setHeader: () => undefined, headersSent: false };

  it.each<[string, unknown[]]>([
    ['http', [{ headers: {} }, reply]],
    ['ws', [{}, {}, 'find']],
  ])('is denied over %s, and its token is not read', async (kind, args) => {
    const context = new ExecutionContextHost(args);
    context.setType(kind);
    const parts = {
      rules: { of: () => ({ kind: 'protected', requirements: [], authority: 'unknown' }) },
      decisions: { denied: () => undefined },
      reader: { vary: '', challenges: new Challenges([]) },
      authorities: { arePerCall: false, named: () => undefined },
    };
    const result = new SessionAuthGuard(parts as unknown as GuardParts).canActivate(context);
    await expect(Promise.resolve(result)).rejects.toMatchObject({
      code: 'SESSION_REJECTED',
      statusCode: 401,
    });
  });
});
