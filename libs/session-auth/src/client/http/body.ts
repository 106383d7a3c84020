import type { IncomingMessage } from 'node:http';
import { isReadable, NoReplyError, UNREACHABLE } from './reply.js';

const MIN_CAPACITY = 1_024;

/**
 * A body that arrives in chunks, in time and memory linear in its length however small they are: one buffer that doubles, and no list of
 * chunks. A body of a single chunk is not copied.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  #bytes: Buffer | undefined;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes the next chunk. Gives `false`, and takes nothing, when the body would be longer than `maxBytes`. */
  append(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) return false;
    if (!this.#bytes) this.#bytes = chunk;
    else this.#copy(this.#bytes, chunk, length);
    this.#length = length;
    return true;
  }

  /** The body so far. */
  get bytes(): Buffer {
    return this.#bytes ? this.#bytes.subarray(0, this.#length) : Buffer.alloc(0);
  }

  #copy(bytes: Buffer, chunk: Buffer, length: number): void {
    const target = length > bytes.length ? this.#grown(bytes, length) : bytes;
    if (chunk.length === 1) target[this.#length] = chunk[0] ?? 0;
    else target.set(chunk, this.#length);
    this.#bytes = target;
  }

  #grown(bytes: Buffer, length: number): Buffer {
    const capacity = Math.max(length, Math.min(this.#maxBytes, Math.max(MIN_CAPACITY, 2 * bytes.length)));
    const grown = Buffer.allocUnsafeSlow(capacity);
    grown.set(bytes.subarray(0, this.#length));
    return grown;
  }
}

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
