import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { AccessRule } from './access-rule.js';
import type { GuardParts } from './guard-parts.js';
import { Challenges } from './challenges.js';
import { SessionAuthGuard } from './session-auth.guard.js';
import { WEB_SOCKET } from './sockets/socket-transport.js';
import { RPC } from './messages/message-transport.js';
import { GRAPHQL } from './graphql/graphql-transport.js';
import { openTransport } from './transports.js';

openTransport('ws', WEB_SOCKET);
openTransport('rpc', RPC);
openTransport('graphql', GRAPHQL);

/** A guard whose parts have nothing but a rule, and take decisions: reading anything else throws. */
const guardWith = (rule: AccessRule): SessionAuthGuard =>
  new SessionAuthGuard({
    rules: { of: () => rule },
    decisions: { denied: () => undefined },
    warn: () => undefined,
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

describe('a call of a registration that does not exist', () => {
  const reply = { getHeader: () => undefined, setHeader: () => undefined, headersSent: false };

  it.each<[string, unknown[], object]>([
    ['http', [{ headers: {} }, reply], { code: 'SESSION_REJECTED', statusCode: 401 }],
    ['ws', [{ handshake: { headers: {} } }, {}, 'find'], { error: { status: 'error', code: 'SESSION_REJECTED' } }],
  ])('is denied over %s, and its token is not read', async (kind, args, expected) => {
    const context = new ExecutionContextHost(args);
    context.setType(kind);
    const parts = {
      rules: { of: () => ({ kind: 'protected', requirements: [], authority: 'unknown' }) },
      decisions: { denied: () => undefined },
      reader: { vary: '', challenges: new Challenges([]) },
      authorities: { arePerCall: false, guardOf: () => undefined },
    };
    const result = new SessionAuthGuard(parts as unknown as GuardParts).canActivate(context);
    await expect(Promise.resolve(result)).rejects.toMatchObject(expected);
  });
});
