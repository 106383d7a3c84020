import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import { attach, CHECK } from '../guard/guarded-request.js';
import type { WatchParts, GuardedCall } from '../guard/transport.js';
import { endWithSession } from './grpc-streams.js';

it.each([
  ['reports the end of the session, and no error that follows from it', false, [16]],
  ['reports nothing if its client has cancelled it before it is admitted', true, []],
])('%s', (_case, cancelled, expected) => {
  const ended = new Subject<string>();
  const statuses: unknown[] = [];
  const call = Object.assign(new EventEmitter(), { cancelled, write: () => !cancelled });
  call.on('error', ({ code }: { code: number }) => statuses.push(code));
  // As Nest does: the requests fail, then the handler that reads them.
  call.on('error', ({ code }: { code: number }) => {
    if (code === 16) call.emit('error', { code: 2 });
  });
  call.on('cancelled', () => call.emit('error', { code: 1 }));
  const session = { token: 'token', authIv: undefined };
  const context = { getHandler: () => () => undefined, getClass: () => Subject };
  const request = { [CHECK]: { session } };
  const admission = { context, session, user: { username: 'ann' } };
  attach(request as never, admission as never);
  const parts = {
    verifier: {
      check: (_session: object, _maxAgeMs: number, earlier: object) => earlier,
      revoker: { onRefusal: () => undefined },
    },
    whileOpen: { recheckMs: 60_000, outageGraceMs: 0 },
    ends: {
      ended,
      evicted: new Subject(),
      forgottenUsers: new Subject(),
      fingerprintOf: () => 'fingerprint',
    },
  };
  endWithSession({ request, transport: {} } as unknown as GuardedCall, parts as unknown as WatchParts, call);
  ended.next('fingerprint');
  expect(statuses).toEqual(expected);
  expect([call.cancelled, call.write()]).toEqual([true, false]);
});
