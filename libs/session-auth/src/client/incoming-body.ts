import type { IncomingMessage } from 'node:http';
import { BodyBuffer } from './body-buffer.js';
import { NoReplyError, UNREACHABLE } from './no-reply.js';
import { isReadable } from './reply.js';

/**
 * Reads the body of a reply of node:http. Resolves with `undefined` for one that must not be read or is longer than `maxBytes`, and ends its
 * connection. Rejects when the connection ends before the body does.
 */
export function readBody(reply: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const body = new BodyBuffer(maxBytes);
    const giveUp = (): void => {
      resolve(undefined);
      reply.destroy();
    };
    reply.on('error', reject);
    reply.on('close', () => reject(new NoReplyError(UNREACHABLE)));
    if (!isReadable(reply.headers, maxBytes)) giveUp();
    reply.on('end', () => resolve(body.bytes));
    reply.on('data', (chunk: Buffer) => {
      if (!body.append(chunk)) giveUp();
    });
  });
}
