import { SessionRejectedError } from '../exceptions/session-exceptions.js';
import type { SocketClient } from '../kinds/socket-client.js';

type Message = readonly unknown[];

/** For one socket. Further messages are discarded. */
const MAX_HELD = 1_000;

/**
 * Holds the messages that the application sends to an open ws socket until its session is checked.
 * @returns functions that send the held messages in order, or discard them
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

/** Calls the callback of a message with an error, because its sender may wait for it. */
function fail(message: Message): void {
  const callback = message.at(-1);
  if (typeof callback === 'function') (callback as (error: Error) => void)(new SessionRejectedError());
}
