import { describe, expect, it, jest } from '@jest/globals';
import { receivedRequest } from '../../../../test/support/session-parts.js';
import { payloadOf } from './client-denial.js';
import { isCrossOrigin } from '../guard/cross-origin.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import {
  disconnect,
  emitException,
  handshakeOf,
  type SocketClient,
  storeUpgrade,
  whenClosed,
} from './socket-client.js';

const PAYLOAD = payloadOf(SESSION_REJECTED);
const NOTHING = { headers: {}, rawHeaders: undefined, handshakeFields: {} };

/** A socket with some members, and what is called on it. */
function socketWith(
  members: Partial<SocketClient>,
  ...methods: ('send' | 'close' | 'disconnect')[]
): [client: SocketClient, calls: unknown[][]] {
  const calls: unknown[][] = [];
  const recorded = ['emit', 'once', ...methods].map((name) => [
    name,
    (...parameters: unknown[]) => calls.push([name, ...parameters]),
  ]);
  return [{ ...(Object.fromEntries(recorded) as Pick<SocketClient, 'emit' | 'once'>), ...members }, calls];
}

const IO = { handshake: { headers: {} } };

describe('the handshake of a socket', () => {
  it('of socket.io is one object, with the headers that the server received, and the fields that the client chose [P25]', () => {
    const headers = { host: 'evil.example', 'x-new': 'x' };
    const request = receivedRequest({ host: 'a.example' });
    const [client] = socketWith({ handshake: { headers, auth: { host: 'evil.example' } }, request });
    expect(handshakeOf(client)).toMatchObject({
      headers: { host: 'a.example' },
      handshakeFields: { host: 'evil.example' },
    });
    expect(handshakeOf(client)).toBe(handshakeOf(client));
  });

  it('of socket.io over WebTransport presents the fields of the client, and nothing is known of its page [P24]', () => {
    const [client] = socketWith({ handshake: { headers: {}, auth: { token: 'chosen' } }, request: null });
    expect(handshakeOf(client)).toEqual({ ...NOTHING, handshakeFields: { token: 'chosen' } });
    expect(isCrossOrigin(handshakeOf(client), new Set())).toBe(true);
  });

  it('of ws presents nothing before the request that opened it is known', () => {
    const [client] = socketWith({ readyState: 1 });
    expect(handshakeOf(client)).toEqual(NOTHING);
    storeUpgrade(client, receivedRequest({ 'x-auth-token': 'good' }));
    expect(handshakeOf(client)).toMatchObject({ headers: { 'x-auth-token': 'good' }, handshakeFields: {} });
    expect(handshakeOf(socketWith({ readyState: 1 })[0])).toEqual(NOTHING);
  });

  it('of graphql-ws has the request of its connection, and the fields of its first message', () => {
    const [client] = socketWith({ readyState: 1 });
    storeUpgrade(client, {
      extra: { request: receivedRequest({ host: 'a.example' }) },
      connectionParams: { token: 'good', host: 'evil.example' },
    });
    expect(handshakeOf(client)).toMatchObject({
      headers: { host: 'a.example' },
      handshakeFields: { token: 'good', host: 'evil.example' },
    });
  });

  it.each<[object | undefined, object]>([
    [{ headers: { 'x-auth-token': 'good', cookie: 'sid=a' } }, { 'x-auth-token': 'good', cookie: 'sid=a' }],
    [{ headers: null }, {}],
    [undefined, {}],
  ])(
    'of ws has fields alone if the application has built its request: %j [P24]',
    (upgrade, handshakeFields) => {
      const [client] = socketWith({ readyState: 1 });
      storeUpgrade(client, upgrade);
      expect(handshakeOf(client)).toEqual({ ...NOTHING, handshakeFields });
    },
  );

  it('of socket.io is not replaced by another request', () => {
    const [client] = socketWith({ handshake: { headers: { 'x-auth-token': 'own' } } });
    storeUpgrade(client, { headers: { 'x-auth-token': 'other' } });
    expect(handshakeOf(client).headers).toEqual({ 'x-auth-token': 'own' });
  });
});

describe('a denial', () => {
  it('is sent to a socket of ws as a message, and calls none of the listeners in this process', () => {
    const [client, calls] = socketWith({ readyState: 1 }, 'send');
    emitException(client, PAYLOAD);
    expect(calls).toEqual([['send', JSON.stringify({ event: 'exception', data: PAYLOAD })]]);
  });

  it('closes a socket of ws with its status and its code, and sends no message', () => {
    const [client, calls] = socketWith({ readyState: 1 }, 'close', 'send');
    disconnect(client, PAYLOAD);
    expect(calls).toEqual([['close', 4401, 'SESSION_REJECTED']]);
  });

  it.each([{ ...IO, connected: true }, IO])(
    'closes a socket of socket.io after its exception: %j',
    (members) => {
      const [client, calls] = socketWith(members, 'disconnect', 'close');
      disconnect(client, PAYLOAD);
      expect(calls).toEqual([['emit', 'exception', PAYLOAD], ['disconnect']]);
    },
  );

  it('closes a socket of socket.io also if a listener throws at its exception', () => {
    const emit = () => JSON.parse('of a listener') as never;
    const [client, calls] = socketWith({ ...IO, emit }, 'disconnect');
    expect(() => disconnect(client, PAYLOAD)).toThrow(SyntaxError);
    expect(calls).toEqual([['disconnect']]);
  });

  it('does nothing to a socket of socket.io that its namespace has not opened', () => {
    const [client, calls] = socketWith({ ...IO, connected: false }, 'disconnect');
    disconnect(client, PAYLOAD);
    expect(calls).toEqual([]);
  });

  it.each<[string, Partial<SocketClient>, unknown[]]>([
    ['send and close', { readyState: 1 }, []],
    ['disconnect', IO, [['emit', 'exception', PAYLOAD]]],
  ])('does not fail on a socket without %s', (_name, members, expected) => {
    const [client, calls] = socketWith(members);
    disconnect(client, PAYLOAD);
    expect(calls).toEqual(expected);
    emitException(client, PAYLOAD);
    expect(calls).toEqual([...expected, ...expected]);
  });
});

describe('the end of a socket', () => {
  it.each<[string, Partial<SocketClient>, string, number]>([
    ['an open one of socket.io', { ...IO, connected: true }, 'disconnect', 0],
    ['a closed one of socket.io', { ...IO, connected: false }, 'disconnect', 1],
    ['an open one of ws', { readyState: 1 }, 'close', 0],
    ['a closing one of ws', { readyState: 2 }, 'close', 1],
  ])(
    'calls a listener at its event, or at once if it came before: %s',
    (_kind, members, event, callsAtOnce) => {
      const listener = jest.fn();
      const [client, calls] = socketWith(members);
      whenClosed(client, listener);
      expect(listener).toHaveBeenCalledTimes(callsAtOnce);
      expect(calls).toEqual([['once', event, listener]]);
    },
  );
});
