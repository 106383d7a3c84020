import type { ExecutionContext } from '@nestjs/common';
import { expect, it } from '@jest/globals';
import type { GuardRegistration } from './guard-registration.js';
import { reporterOf } from './report-only.js';
import { type GuardedCall, type Transport, TRANSPORTS } from './transport.js';

it('a reported call of a kind that only a plugin opens is neither watched nor denied, and keeps its user', async () => {
  const used: string[] = [];
  const use = (name: string) => () => void used.push(name);
  const context = { getType: () => 'graphql' } as unknown as ExecutionContext;
  const transport = {
    open: () => ({ context, request, transport, reply: {} }),
    admitted: use('admitted'),
    watch: use('watch'),
    deny: use('deny'),
  } as unknown as Transport;
  const request: GuardedCall['request'] = { headers: {}, user: 'of another guard' };
  const before = TRANSPORTS.get('graphql');
  TRANSPORTS.set('graphql', transport);
  const reporter = reporterOf([], true, false, { note: () => undefined });
  const calls: GuardedCall[] = [];
  reporter.report(context, {} as GuardRegistration, (call) => calls.push(call));
  if (before) TRANSPORTS.set('graphql', before);
  else TRANSPORTS.delete('graphql');

  const [call] = calls as [GuardedCall];
  call.transport.admitted?.(call);
  call.transport.watch?.(call, {} as GuardRegistration);
  const denial = { statusCode: 401, code: 'SESSION_REQUIRED', message: 'No' } as never;
  await expect(call.transport.deny(call, denial, undefined as never)).rejects.toThrow();
  expect(used).toEqual([]);
  call.request.user = 'of the session';
  expect([call.request.headers, request.user]).toEqual([request.headers, 'of another guard']);
});
