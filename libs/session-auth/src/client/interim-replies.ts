import type { Socket } from 'node:net';

/** Start of an interim reply; `x` is any digit. */
const STATUS_LINE = Buffer.from('HTTP/1.x 1xx');
const ANY_DIGIT = 0x78;
const ZERO = 0x30;
const TWO = 0x32;
const NINE = 0x39;
const CR = 0x0d;
const LF = 0x0a;

/**
 * Makes a connection accept `100 Continue` before a reply. undici accepts every other interim reply (1xx),
 * but treats this one as an error unless it sent `Expect`. The connection therefore replaces it with `102
 * Processing`. undici reads a socket with `read()`. A reply starts after a request is written, because a
 * connection carries one request at a time.
 */
export function acceptContinue(socket: Socket): void {
  const scan = new InterimScan();
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.write = (...args: unknown[]): boolean => {
    scan.restart();
    return write(...args);
  };
  socket.read = (size?: number): Buffer | null => {
    const chunk = read(size);
    if (chunk) scan.rewrite(chunk);
    return chunk;
  };
}

/**
 * Finds the status lines of interim replies, in chunks of any size, up to the first line of the reply itself.
 */
export class InterimScan {
  #at: 'status line' | 'interim head' | 'reply' = 'status line';
  /** Position in the current line. */
  #column = 0;
  #mayBeContinue = false;

  /** Resets the scan: the next byte starts a reply. */
  restart(): void {
    this.#at = 'status line';
    this.#column = 0;
  }

  /** Replaces 100 with 102 in status lines, in place. */
  rewrite(chunk: Uint8Array): void {
    for (let index = 0; index < chunk.length && this.#at !== 'reply'; index += 1) {
      const byte = chunk[index] ?? 0;
      if (this.#at === 'interim head') this.#readHead(byte);
      else if (this.#readStatusLine(byte)) chunk[index] = TWO;
    }
  }

  /** Returns whether the byte is the last digit of 100. */
  #readStatusLine(byte: number): boolean {
    if (this.#column === 0 && (byte === CR || byte === LF)) return false;
    const expected = STATUS_LINE[this.#column] ?? 0;
    if (expected === ANY_DIGIT ? !isDigit(byte) : byte !== expected) {
      this.#at = 'reply';
      return false;
    }
    const column = this.#column++;
    if (column === STATUS_LINE.length - 2) this.#mayBeContinue = byte === ZERO;
    if (column < STATUS_LINE.length - 1) return false;
    this.#at = 'interim head';
    return this.#mayBeContinue && byte === ZERO;
  }

  #readHead(byte: number): void {
    if (byte === LF && this.#column === 0) this.restart();
    else if (byte === LF) this.#column = 0;
    else if (byte !== CR) this.#column += 1;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
