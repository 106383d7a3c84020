import { describe, expect, it } from '@jest/globals';
import { BodyBuffer } from './reply.js';

const text = (body: BodyBuffer): string => body.bytes.toString();

describe('a body buffer', () => {
  it('is empty before its first chunk', () => {
    expect(new BodyBuffer().bytes).toEqual(Buffer.alloc(0));
  });

  it('keeps a single chunk without a copy', () => {
    const [body, chunk] = [new BodyBuffer(), Buffer.from('all')];
    body.append(chunk, 10);
    expect(body.bytes.buffer).toBe(chunk.buffer);
    expect(text(body)).toBe('all');
  });

  it('collects chunks of any size in order', () => {
    const body = new BodyBuffer();
    const chunks = ['a', '', 'bc', 'd'.repeat(3_000), 'e', 'f'.repeat(2_000), 'g'];
    for (const chunk of chunks) expect(body.append(Buffer.from(chunk), 10_000)).toBe(true);
    expect(text(body)).toBe(chunks.join(''));
  });

  it('does not write into a chunk', () => {
    const body = new BodyBuffer();
    const memory = Buffer.from('first, and bytes of another body');
    body.append(memory.subarray(0, 5), 10);
    body.append(Buffer.from('+'), 10);
    expect(memory.toString()).toBe('first, and bytes of another body');
    expect(text(body)).toBe('first+');
  });

  it('of many chunks of one byte is copied only when it doubles', () => {
    const length = 65_536;
    const body = new BodyBuffer();
    const chunk = Buffer.from('x');
    const moves: number[] = [];
    let memory: ArrayBufferLike | undefined;
    for (let index = 0; index < length; index += 1) {
      body.append(chunk, length);
      if (body.bytes.buffer !== memory) moves.push(index);
      memory = body.bytes.buffer;
    }
    const bytesCopied = moves.reduce((sum, bytes) => sum + bytes, length);
    expect(bytesCopied).toBeLessThan(3 * length);
    expect(memory?.byteLength).toBe(length);
  });

  it('rejects a chunk that would exceed its limit', () => {
    const body = new BodyBuffer();
    expect(body.append(Buffer.from('12345'), 4)).toBe(false);
    expect(['12', '34', '5'].map((chunk) => body.append(Buffer.from(chunk), 4))).toEqual([true, true, false]);
    expect(text(body)).toBe('1234');
  });
});
