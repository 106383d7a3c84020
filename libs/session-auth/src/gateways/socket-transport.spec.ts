import { describe, expect, it, jest } from '@jest/globals';
import { WsException } from '@nestjs/websockets';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { AccessDeniedError } from '../exceptions/session-exceptions.js';
import { payloadOf } from '../kinds/client-denial.js';
import { Challenge } from '../guard/challenge.js';
import { WEB_SOCKET } from './socket-transport.js';

const socket = { handshake: { headers: { 'x-auth-token': 'good' } }, emit: jest.fn(), once: jest.fn() };
const webSocket = { readyState: 1, emit: jest.fn(), once: jest.fn(), send: jest.fn() };
const PAYLOAD = payloadOf(SESSION_REJECTED);

/** A message, as Nest passes it to a guard: it shares its arguments with the interceptors and the handler. */
const messageOf = (...args: unknown[]): ExecutionContextHost => new ExecutionContextHost(args);

describe('the request of a message', () => {
  it('is its own, with the headers of the handshake, so that it can have a user of its own', () => {
    const [one, other] = [messageOf(socket, {}, 'find'), messageOf(socket, {}, 'find')];
    expect(WEB_SOCKET.requestOf(one)).toBeUndefined();

    const call = WEB_SOCKET.open(one);
    call.request.user = { username: 'ann' };

    expect(call).toEqual({ transport: WEB_SOCKET, context: one, request: expect.any(Object) });
    expect(call.request).toMatchObject({ headers: { 'x-auth-token': 'good' } });
    expect(WEB_SOCKET.open(other).request).not.toHaveProperty('user');
  });

  it('is the same for all guards of the message, which share its arguments and nothing else', () => {
    const args = [socket, { id: 7 }, 'find'];
    const { request } = WEB_SOCKET.open(new ExecutionContextHost(args));

    expect(WEB_SOCKET.open(new ExecutionContextHost(args)).request).toBe(request);
    expect(WEB_SOCKET.requestOf(new ExecutionContextHost(args))).toBe(request);
    expect(args).toHaveLength(4);
  });

  const acknowledge = (): void => undefined;
  const binding: unknown = expect.any(Object);
  it.each<[string, unknown[], unknown[]]>([
    ['payload', ['payload', 'find'], ['payload', binding, 'find']],
    ['acknowledgement', ['payload', acknowledge, 'find'], ['payload', acknowledge, binding, 'find']],
    ['the name of the event only', ['find'], [undefined, binding, 'find']],
  ])('moves no argument but the last: %s', (_kind, args, after) => {
    const context = messageOf(socket, ...args);
    WEB_SOCKET.open(context);

    expect(context.getArgs()).toEqual([socket, ...after]);
    expect(WEB_SOCKET.parameters(context)).toBe(after[0]);
  });

  it('is not visible among the arguments, which an application may print', () => {
    const context = messageOf(socket, {}, 'find');
    WEB_SOCKET.open(context);
    const found = context.getArgByIndex<object>(2);
    expect([JSON.stringify(found), Object.keys(found)]).toEqual(['{}', []]);
  });
});

describe('a denied message', () => {
  const deny = (...args: unknown[]): Promise<never> => {
    const context = messageOf(...args);
    return WEB_SOCKET.deny(WEB_SOCKET.open(context), SESSION_REJECTED, new Challenge([]));
  };

  it('is rejected with a WsException, which Nest sends to the client', async () => {
    const rejection = deny(webSocket, {}, 'find');
    await expect(rejection).rejects.toBeInstanceOf(WsException);
    await expect(rejection).rejects.toMatchObject({ error: PAYLOAD });
  });

  it('has its acknowledgement answered on socket.io, after the filters of the application', async () => {
    const order: unknown[] = [];
    const rejection = deny(socket, {}, (payload: unknown) => order.push(payload), 'find');
    rejection.catch(async () => {
      await Promise.resolve();
      order.push('filtered');
    });
    await expect(rejection).rejects.toBeInstanceOf(WsException);
    await new Promise(setImmediate);
    expect(order).toEqual(['filtered', PAYLOAD]);
  });

  it.each<[string, object, unknown]>([
    ['an acknowledgement', socket, 'text'],
    ['a socket of socket.io', webSocket, jest.fn()],
  ])('is rejected in the same way without %s', async (_missing, client, third) => {
    await expect(deny(client, {}, third, 'find')).rejects.toBeInstanceOf(WsException);
    await new Promise(setImmediate);
    if (typeof third === 'function') expect(third).not.toHaveBeenCalled();
  });
});

describe('an error that the handler of a message does not catch', () => {
  it('is sent to the client as an exception, and answers the acknowledgement', () => {
    const acknowledge = jest.fn();
    const denial = { status: 'error', statusCode: 403, code: 'ACCESS_DENIED' };
    const payload: unknown = expect.objectContaining(denial);
    for (const third of [[], [acknowledge]])
      WEB_SOCKET.answer?.(messageOf(socket, {}, ...third, 'find'), new AccessDeniedError());
    expect(socket.emit.mock.calls).toEqual(Array(2).fill(['exception', payload]));
    expect(acknowledge.mock.calls).toEqual([[payload]]);
  });
});
