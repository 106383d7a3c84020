import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { openCall } from '../../../../test/support/session-parts.js';
import type { NodeResponse, ReplyOfCall } from '../guard/transport.js';
import { endWithSession } from './open-replies.js';

it.each(['throws', 'is called'])(
  'a stream of events whose write() %s at the end of its session ends',
  (what) => {
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
    const { end, ...reply } = openCall();
    endWithSession(response as unknown as NodeResponse, reply as ReplyOfCall);
    end();
    expect(calls).toEqual(['event: session-ended', what === 'throws' ? 'destroy' : 'end']);
  },
);
