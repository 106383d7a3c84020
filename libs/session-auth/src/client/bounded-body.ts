import type { IncomingMessage } from 'node:http';
import { isReadable, NoReplyError, UNREACHABLE } from './reply.js';

const MIN_CAPACITY = 1_024;

/**
 * Collects the chunks of a body in one buffer, which doubles when it is full. Time and memory are linear in
 * the length of the body, however small the chunks are. A body of a single chunk is not copied.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  #bytes: Buffer | undefined;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Appends a chunk. Returns `false`, and appends nothing, if the body would exceed `maxBytes`. */
  append(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) return false;
    if (!this.#bytes) this.#bytes = chunk;
    else this.#copy(this.#bytes, chunk, length);
    this.#length = length;
    return true;
  }

  /** The bytes received so far. */
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
 * Reads the body of a node:http response. Resolves with `undefined`, and closes the connection, if the body
 * must not be read or exceeds `maxBytes`. Rejects if the connection closes before the body is complete.
 */
export function readBody(reply: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const body = new BodyBuffer(maxBytes);
    const discard = (): void => {
      resolve(undefined);
      reply.destroy();
    };
    reply.on('error', reject);
    reply.on('close', () => reject(new NoReplyError(UNREACHABLE)));
    if (!isReadable(reply.headers, maxBytes)) discard();
    reply.on('end', () => resolve(body.bytes));
    reply.on('data', (chunk: Buffer) => {
      if (!body.append(chunk)) discard();
    });
  });
}
