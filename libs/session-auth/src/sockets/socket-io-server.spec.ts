import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { socketIoServerOf } from './socket-io-server.js';

const SERVER = { of: () => undefined, opts: {}, _nsps: new Map() };

describe('the socket.io server of a gateway', () => {
  it('is the server itself, or that of a namespace', () => {
    const server = new IoAdapter(createServer()).createIOServer(0);
    expect([server, server.of('/'), server.of('/news')].map(socketIoServerOf)).toEqual([
      server,
      server,
      server,
    ]);
  });

  it.each<[string, object]>([
    ['of', { ...SERVER, of: undefined }],
    ['opts', { ...SERVER, opts: undefined }],
    ['a map of namespaces', { ...SERVER, _nsps: {} }],
    ['anything', {}],
  ])('is none without %s', (_name, server) => {
    expect([server, { server }].map(socketIoServerOf)).toEqual([undefined, undefined]);
  });

  it.each([null, undefined, 'server', () => undefined])('is not %p', (server) => {
    expect(socketIoServerOf({ server })).toBeUndefined();
  });

  it('need not be one of this copy of socket.io', () => {
    expect(socketIoServerOf({ server: SERVER })).toBe(SERVER);
  });
});
