import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { openCall } from '../../../../test/support/session-parts.js';
import { WatchedSessions } from '../open/watched-sessions.js';
import { endWithSession } from './grpc-streams.js';

it.each([
  ['reports the end of the session, and no error that follows from it', false, [16]],
  ['reports nothing if its client has cancelled it before it is admitted', true, []],
])('%s', (_case, cancelled, expected) => {
  const statuses: unknown[] = [];
  const call = Object.assign(new EventEmitter(), { cancelled, write: () => !cancelled });
  call.on('error', ({ code }: { code: number }) => statuses.push(code));
  // As Nest does: the requests fail, then the handler that reads them.
  call.on('error', ({ code }: { code: number }) => {
    if (code === 16) call.emit('error', { code: 2 });
  });
  call.on('cancelled', () => call.emit('error', { code: 1 }));
  const { end, registration, call: guarded } = openCall();
  endWithSession(guarded, registration, call);
  end();
  expect(statuses).toEqual(expected);
  expect([call.cancelled, call.write()]).toEqual([true, false]);
});

it.each(['close', 'finish', 'cancelled'])('a stream is watched until its event %s', (event) => {
  const call = Object.assign(new EventEmitter(), { cancelled: false, write: () => true });
  const { registration, call: guarded } = openCall();
  endWithSession(guarded, registration, call);
  expect(WatchedSessions.of(registration).all()).toHaveLength(1);
  call.emit(event);
  expect(WatchedSessions.of(registration).all()).toEqual([]);
});
