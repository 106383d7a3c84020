import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { SERVICE_UNAVAILABLE } from '../contract/denials.js';
import { UnfinishedHandshakes } from './socket-io-handshakes.js';
import type { SocketIoSocket } from './socket-io-server.js';

type Ending = NonNullable<ReturnType<UnfinishedHandshakes['begin']>['target']>;

const socketOf = (conn: EventEmitter, nsp: object = {}): SocketIoSocket =>
  ({ conn, nsp }) as unknown as SocketIoSocket;

/** A target, and the codes that it was ended with. */
function target(onEnd: () => void = () => undefined): Ending & { ends: string[] } {
  const ends: string[] = [];
  const end: Ending['end'] = ({ code }) => {
    ends.push(code);
    onEnd();
  };
  return { ends, end };
}

describe('an unfinished handshake', () => {
  const unfinished = new UnfinishedHandshakes();

  it('need not have a target yet', () => {
    const connection = new EventEmitter();
    const namespace = {};
    unfinished.begin(socketOf(connection, namespace));
    unfinished.begin(socketOf(connection, namespace));
    expect(() => connection.emit('close')).not.toThrow();
  });

  it('ends when another one of its connection and namespace begins, and at no other', () => {
    const [connection, namespace] = [new EventEmitter(), {}];
    const former = target();
    unfinished.begin(socketOf(connection, namespace)).target = former;
    unfinished.begin(socketOf(connection));
    unfinished.begin(socketOf(new EventEmitter(), namespace));
    expect(former.ends).toEqual([]);
    unfinished.begin(socketOf(connection, namespace));
    connection.emit('close');
    expect(former.ends).toEqual([SERVICE_UNAVAILABLE.code]);
  });

  it('ends when its connection closes, in each of its namespaces, and may finish while it ends', () => {
    const connection = new EventEmitter();
    const others = [target(), target()];
    const first = unfinished.begin(socketOf(connection));
    first.target = target(() => unfinished.finish(first.socket));
    for (const other of others) unfinished.begin(socketOf(connection)).target = other;
    expect(connection.listenerCount('close')).toBe(1);
    connection.emit('close');
    expect(others.map(({ ends }) => ends)).toEqual(Array(2).fill([SERVICE_UNAVAILABLE.code]));
  });
});

describe('a finished handshake', () => {
  const unfinished = new UnfinishedHandshakes();

  it('does not end when its connection closes', () => {
    const connection = new EventEmitter();
    const [own, other] = [target(), target()];
    const socket = socketOf(connection);
    unfinished.begin(socket).target = own;
    unfinished.begin(socketOf(connection)).target = other;
    unfinished.finish(socket);
    connection.emit('close');
    expect([own.ends, other.ends]).toEqual([[], [SERVICE_UNAVAILABLE.code]]);
  });

  it('is not that of another socket in the same namespace', () => {
    const [connection, namespace] = [new EventEmitter(), {}];
    const current = target();
    unfinished.begin(socketOf(connection, namespace)).target = current;
    unfinished.finish(socketOf(connection, namespace));
    unfinished.finish(socketOf(connection));
    unfinished.finish(socketOf(new EventEmitter(), namespace));
    connection.emit('close');
    expect(current.ends).toEqual([SERVICE_UNAVAILABLE.code]);
  });
});
