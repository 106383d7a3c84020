import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach } from '@jest/globals';
import { DENIAL_CHANNEL } from '../../libs/session-auth/src/contract/diagnostics.js';
import type { Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import type { UserRecord } from '../../libs/session-auth/src/contract/record/user-record.js';
import { WatchedSockets } from '../../libs/session-auth/src/sockets/watched-sockets.js';
import { partsWith } from './session-parts.js';

export const ANN = { kind: 'authenticated', user: { username: 'ann' } } as const;

/** A socket of ws, and how it was closed. */
export class WsSocket extends EventEmitter {
  readyState = 1;
  readonly closings: unknown[] = [];
  readonly close = (code: number, reason: string): void => void this.closings.push([code, reason]);
  readonly terminate = (): void => void this.closings.push('terminated');
}

/** The sockets of a registration whose service answers when the test does. Call it inside `describe`. */
export function waitingSockets(setup: Parameters<typeof partsWith>[1] = {}) {
  const create = () => {
    const calls: ((verdict: Verdict<UserRecord>) => void)[] = [];
    const parts = partsWith(() => new Promise((resolve) => calls.push(resolve)), setup);
    return { calls, source: parts.ends, application: new WatchedSockets(parts) };
  };
  const denials: unknown[] = [];
  const record = (message: unknown): void => void denials.push(message);
  const bed = {
    ...create(),
    /** What was published of denials. */
    denials,
    answer: async (verdict: Verdict<UserRecord> = ANN): Promise<void> => {
      bed.calls.at(-1)?.(verdict);
      await new Promise(setImmediate);
    },
    /** The numbers of watched sockets and of waiting handshakes. */
    counts: (): number[] => Object.values(bed.application.count()),
  };
  beforeEach(() => {
    Object.assign(bed, create());
    denials.length = 0;
    subscribe(DENIAL_CHANNEL, record);
  });
  afterEach(() => {
    unsubscribe(DENIAL_CHANNEL, record);
    bed.source.complete();
  });
  return bed;
}
