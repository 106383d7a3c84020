import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { errors } from 'undici';
import { reuseTrackingConnector, wasReused } from './reply-collector.js';

type Outcome = readonly [error: Error | null, socket: Socket | null];

/** Connects to a server that accepts and sends nothing; passes both ends to `trial`. */
async function connecting(timeoutMs: number, protocol: string, trial: (outcome: Outcome, peer: Socket) => Promise<void>): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connect = reuseTrackingConnector(timeoutMs);
  const outcome = await new Promise<Outcome>((resolve) => {
    connect({ hostname: '127.0.0.1', port: String(port), protocol }, (...result) => resolve(result));
  });
  const [peer] = await accepted;
  try {
    await trial(outcome, peer);
  } finally {
    peer.destroy();
    outcome[1]?.destroy();
    server.close();
  }
}

describe('a connection that fails', () => {
  it.each([
    ['counts as reused if it has received data', 'x', true],
    ['does not count as reused if it has received nothing', '', false],
  ])('%s', async (_name, earlier, reused) => {
    await connecting(5_000, 'http:', async ([, socket], peer) => {
      if (earlier) {
        peer.write(earlier);
        if (socket) await once(socket, 'data');
      }
      const failure = new Error('reset');
      socket?.once('error', () => undefined).destroy(failure);
      if (socket) await new Promise((closed) => socket.once('close', closed));
      expect(wasReused(failure)).toBe(reused);
    });
  });

  it.each([
    ['a connection that has received data', new errors.SocketError('other side closed', { bytesRead: 1 } as never), true],
    ['a connection that has received nothing', new errors.SocketError('other side closed', { bytesRead: 0 } as never), false],
    ['no connection', new errors.SocketError('other side closed'), false],
    ['any other error', Object.assign(new Error('other side closed'), { socket: { bytesRead: 1 } }), false],
  ])('as undici reports it: %s', (_name, error, reused) => {
    expect(wasReused(error)).toBe(reused);
  });
});

describe('a connection that is not established', () => {
  it('is aborted at its timeout', async () => {
    await connecting(50, 'https:', async ([error]) => {
      expect(error).toBeInstanceOf(errors.ConnectTimeoutError);
      await Promise.resolve();
    });
  });
});
