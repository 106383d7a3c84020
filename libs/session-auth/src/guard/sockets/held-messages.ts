import { SessionRejectedError } from '../../contract/errors.js';
import type { SocketClient } from './socket-client.js';

type Message = readonly unknown[];

/** Messages that one socket may hold back; what comes beyond is lost. */
const MAX_HELD = 1_000;

/**
 * Holds back what the application sends to an open socket of ws, until its session is checked. @returns what lets the messages out, in their
 * order, or drops them
 */
export function holdMessages(client: SocketClient): { release(): void; drop(): void } {
  const send = Object.getOwnPropertyDescriptor(client, 'send');
  const held: Message[] = [];
  const hold = (...message: Message): void => {
    if (held.length < MAX_HELD) held.push(message);
    else fail(message);
  };
  Object.defineProperty(client, 'send', { configurable: true, writable: true, value: hold });
  const restore = (): void => {
    if (send) Object.defineProperty(client, 'send', send);
    else Reflect.deleteProperty(client, 'send');
  };
  return {
    release: () => {
      restore();
      for (const message of held.splice(0)) client.send?.(...(message as [string]));
    },
    drop: () => {
      restore();
      held.splice(0).forEach(fail);
    },
  };
}

/** Who sent it may wait for its callback. */
function fail(message: Message): void {
  const callback = message.at(-1);
  if (typeof callback === 'function') (callback as (error: Error) => void)(new SessionRejectedError());
}
