import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { BodyBuffer, readBody } from './bounded-body.js';
import { UNREACHABLE } from './reply.js';

const text = (body: BodyBuffer): string => body.bytes.toString();

describe('a body buffer', () => {
  it('is empty before its first chunk', () => {
    expect(new BodyBuffer(10).bytes).toEqual(Buffer.alloc(0));
  });

  it('keeps a single chunk without a copy', () => {
    const [body, chunk] = [new BodyBuffer(10), Buffer.from('all')];
    body.append(chunk);
    expect(body.bytes.buffer).toBe(chunk.buffer);
    expect(text(body)).toBe('all');
  });

  it('collects chunks of any size in order', () => {
    const body = new BodyBuffer(10_000);
    const chunks = ['a', '', 'bc', 'd'.repeat(3_000), 'e', 'f'.repeat(2_000), 'g'];
    for (const chunk of chunks) expect(body.append(Buffer.from(chunk))).toBe(true);
    expect(text(body)).toBe(chunks.join(''));
  });

  it('does not write into a chunk', () => {
    const body = new BodyBuffer(10);
    const memory = Buffer.from('first, and bytes of another body');
    body.append(memory.subarray(0, 5));
    body.append(Buffer.from('+'));
    expect(memory.toString()).toBe('first, and bytes of another body');
    expect(text(body)).toBe('first+');
  });

  it.each([65_536, 1_048_576])('of %p chunks of one byte is copied only when it doubles', (length) => {
    const body = new BodyBuffer(length);
    const chunk = Buffer.from('x');
    const moves: number[] = [];
    let memory: ArrayBufferLike | undefined;
    for (let index = 0; index < length; index += 1) {
      body.append(chunk);
      if (body.bytes.buffer !== memory) moves.push(index);
      memory = body.bytes.buffer;
    }
    const bytesCopied = moves.reduce((sum, bytes) => sum + bytes, length);
    expect(bytesCopied).toBeLessThan(3 * length);
    expect(memory?.byteLength).toBe(length);
  });

  it('takes memory as the body grows, and copies nothing while there is room', () => {
    const body = new BodyBuffer(1_048_576);
    for (const chunk of ['a', 'b']) body.append(Buffer.from(chunk));
    const { buffer } = body.bytes;
    expect(buffer.byteLength).toBe(1_024);
    body.append(Buffer.from('c'.repeat(1_022)));
    expect(body.bytes.buffer).toBe(buffer);
    body.append(Buffer.from('d'));
    expect(body.bytes.buffer.byteLength).toBe(2_048);
    expect(text(body)).toBe(`ab${'c'.repeat(1_022)}d`);
  });

  it('rejects a chunk that would exceed its limit', () => {
    const body = new BodyBuffer(4);
    expect(body.append(Buffer.from('12345'))).toBe(false);
    expect(['12', '34', '5'].map((chunk) => body.append(Buffer.from(chunk)))).toEqual([true, true, false]);
    expect(text(body)).toBe('1234');
  });
});

describe('the body of a reply', () => {
  /** Returns a reply that is being received, and the reading of its body. */
  function receiving(headers: IncomingHttpHeaders = {}) {
    const reply = Object.assign(new PassThrough(), { headers });
    return { reply, reading: readBody(reply as unknown as IncomingMessage, 10) };
  }

  it('is complete when the reply ends', async () => {
    const { reply, reading } = receiving();
    reply.write('four');
    reply.end(' more');
    expect(String(await reading)).toBe('four more');
  });

  it('that is empty is an empty buffer', async () => {
    const { reply, reading } = receiving();
    reply.end();
    expect(await reading).toEqual(Buffer.alloc(0));
  });

  it.each([
    ['exceeds the limit', {}, '12345678901'],
    ['declares a length above the limit', { 'content-length': '11' }, ''],
    ['has an encoding that was not requested', { 'content-encoding': 'gzip' }, ''],
  ])('that %s is not read, and closes the connection', async (_name, headers, sent) => {
    const { reply, reading } = receiving(headers);
    if (sent) reply.write(sent);
    expect(await reading).toBeUndefined();
    expect(reply.destroyed).toBe(true);
  });

  it('is not found if the connection closes before its end, or fails', async () => {
    const closed = receiving();
    closed.reply.write('part');
    closed.reply.destroy();
    await expect(closed.reading).rejects.toHaveProperty('outcome', UNREACHABLE);

    const failed = receiving();
    const failure = new Error('reset');
    failed.reply.destroy(failure);
    await expect(failed.reading).rejects.toBe(failure);
  });
});
