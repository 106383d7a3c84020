import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach } from '@jest/globals';
import { DENIAL_CHANNEL } from '../../libs/session-auth/src/contract/diagnostics.js';
import type { Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import type { UserRecord } from '../../libs/session-auth/src/contract/record/user-record.js';
import type { EventSource } from '../../libs/session-auth/src/module/events/event-source.js';
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

/** The sockets of a registration whose service answers when the test does. Create it inside `describe`. */
export class WaitingSockets {
  calls: ((verdict: Verdict<UserRecord>) => void)[] = [];
  application!: WatchedSockets;
  source!: EventSource;
  /** Published denials. */
  readonly denials: unknown[] = [];

  constructor(setup: Parameters<typeof partsWith>[1] = {}) {
    const record = (message: unknown): void => void this.denials.push(message);
    beforeEach(() => {
      [this.calls, this.denials.length] = [[], 0];
      const parts = partsWith(() => new Promise((resolve) => this.calls.push(resolve)), setup);
      [this.application, this.source] = [new WatchedSockets(parts), parts.ends];
      subscribe(DENIAL_CHANNEL, record);
    });
    afterEach(() => {
      unsubscribe(DENIAL_CHANNEL, record);
      this.source.complete();
    });
  }

  readonly answer = async (verdict: Verdict<UserRecord> = ANN): Promise<void> => {
    this.calls.at(-1)?.(verdict);
    await new Promise(setImmediate);
  };

  /** The numbers of watched sockets and of waiting handshakes. */
  readonly counts = (): [watched: number, waiting: number] => {
    const { watched, waiting } = this.application.count();
    return [watched, waiting];
  };
}
