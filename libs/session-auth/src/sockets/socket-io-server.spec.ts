import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { socketIoServerOf } from './socket-io-server.js';

const SERVER = { of: () => undefined, opts: {}, _nsps: new Map() };

describe('the socket.io server of a gateway', () => {
  it('is the server itself, or that of a namespace, also of another copy of socket.io', () => {
    const server = new IoAdapter(createServer()).createIOServer(0);
    for (const each of [server, server.of('/news')]) expect(socketIoServerOf(each)).toBe(server);
    expect(socketIoServerOf({ server: SERVER })).toBe(SERVER);
  });

  it.each([
    null,
    'server',
    { ...SERVER, of: undefined },
    { ...SERVER, opts: undefined },
    { ...SERVER, _nsps: {} },
  ])('is not %j', (server) => expect(socketIoServerOf({ server })).toBeUndefined());
});
