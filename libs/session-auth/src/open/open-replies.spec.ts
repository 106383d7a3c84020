import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import type { NodeResponse, ReplyOfCall } from '../guard/transport.js';
import { CHECK } from '../guard/guarded-request.js';
import { endWithSession } from './open-replies.js';

it.each(['throws', 'is called'])(
  'a stream of events whose write() %s at the end of its session ends',
  (what) => {
    const ended = new Subject<string>();
    const calls: string[] = [];
    const response = Object.assign(new EventEmitter(), {
      writableEnded: false,
      writableFinished: true,
      getHeader: () => 'text/event-stream',
      setHeader: () => undefined,
      write: (text: string) => {
        calls.push(text.trim().split('\n')[0] ?? '');
        if (what === 'throws') throw new Error('of the application');
        return true;
      },
      flushHeaders: () => undefined,
      end: () => calls.push('end'),
      destroy: () => calls.push('destroy'),
    });
    const user = { username: 'ann' };
    const session = { token: 'token', authIv: undefined };
    const check = { session };
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
    const context = { getHandler: () => () => undefined, getClass: () => Subject };
    const call = { request: { [CHECK]: check }, transport: {} };
    const reply = { call, admission: { context, session, user }, parts } as unknown as ReplyOfCall;
    endWithSession(response as unknown as NodeResponse, reply);
    ended.next('fingerprint');
    expect(calls).toEqual(['event: session-ended', what === 'throws' ? 'destroy' : 'end']);
  },
);
