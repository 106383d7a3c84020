import { describe, expect, it, jest } from '@jest/globals';
import { SessionRejectedError } from '../exceptions/session-exceptions.js';
import { holdMessages } from './held-messages.js';

/** A socket of ws, whose `send` is a method of its class. */
class Socket {
  readonly sent: unknown[][] = [];
  emit(): void {
    throw new Error('no event is emitted');
  }
  once(): void {
    throw new Error('no listener is added');
  }
  send(...message: unknown[]): void {
    this.sent.push(message);
  }
}

describe('a message to a socket whose session is being checked', () => {
  it('is held, and sent in its order once the session is valid, with its options and its callback', () => {
    const socket = new Socket();
    const callback = jest.fn();
    const held = holdMessages(socket);
    socket.send('one');
    socket.send('two', { binary: true }, callback);
    expect(socket.sent).toEqual([]);

    held.release();
    expect(socket.sent).toEqual([['one'], ['two', { binary: true }, callback]]);
    socket.send('three');
    expect(socket.sent).toHaveLength(3);
    held.release();
    expect(socket.sent).toHaveLength(3);
    expect(Object.hasOwn(socket, 'send')).toBe(false);
  });

  it('is discarded if the session is not valid: its callback gets the error', () => {
    const socket = new Socket();
    const callback = jest.fn();
    const held = holdMessages(socket);
    socket.send('one');
    socket.send('two', { binary: true }, callback);
    held.drop();
    expect([socket.sent, callback.mock.calls]).toEqual([[], [[expect.any(SessionRejectedError)]]]);

    held.release();
    expect(socket.sent).toEqual([]);
    socket.send('three');
    expect(socket.sent).toEqual([['three']]);
  });

  it('is discarded if 1,000 others are held', () => {
    const socket = new Socket();
    const callback = jest.fn();
    const held = holdMessages(socket);
    for (let index = 0; index < 1000; index += 1) socket.send(index, callback);
    expect(callback).not.toHaveBeenCalled();
    socket.send(1000, callback);
    expect(callback.mock.calls).toEqual([[expect.any(SessionRejectedError)]]);

    held.release();
    expect(socket.sent.map(([data]) => data)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  });

  it('is held by a socket with a send of its own, which it has again afterwards', () => {
    const socket = new Socket();
    const send = jest.fn();
    Object.defineProperty(socket, 'send', {
      value: send,
      configurable: true,
      enumerable: false,
      writable: false,
    });
    const before = Object.getOwnPropertyDescriptor(socket, 'send');

    const held = holdMessages(socket);
    socket.send('one');
    expect(send).not.toHaveBeenCalled();
    held.release();

    expect(send.mock.calls).toEqual([['one']]);
    expect(Object.getOwnPropertyDescriptor(socket, 'send')).toEqual(before);
  });

  it('may be sent by a function that the application puts in the place of send', () => {
    const socket = new Socket();
    const held = holdMessages(socket);
    const hold = socket.send.bind(socket);
    socket.send = (...message) => hold('wrapped', ...message);
    socket.send('one');
    held.release();
    expect(socket.sent).toEqual([['wrapped', 'one']]);
  });
});
