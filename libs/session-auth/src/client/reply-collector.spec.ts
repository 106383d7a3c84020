import type { Dispatcher } from 'undici';
import { describe, expect, it } from '@jest/globals';
import { type NoReply, type Reply, UNREACHABLE } from './reply.js';
import { ReplyCollector } from './reply-collector.js';

const MAX_BYTES = 10;

/** Returns a collector, its outcomes, and the number of connections that it closed. */
function collecting() {
  const outcomes: (Reply | NoReply)[] = [];
  let ended = 0;
  const controller = { abort: () => void (ended += 1) } as unknown as Dispatcher.DispatchController;
  const collector = new ReplyCollector(MAX_BYTES, (outcome) => outcomes.push(outcome));
  return {
    collector,
    outcomes,
    connectionsEnded: () => ended,
    start: () => collector.onRequestStart(controller),
    head: (status: number, headers = {}) => collector.onResponseStart(controller, status, headers),
    data: (text: string) => collector.onResponseData(controller, Buffer.from(text)),
  };
}

describe('a reply', () => {
  it('is its status, its headers and its complete body', () => {
    const { collector, outcomes, start, head, data } = collecting();
    start();
    head(200, { a: 'b' });
    for (const part of ['four', ' and', ' x']) data(part);
    collector.onResponseEnd();
    expect(outcomes).toEqual([{ status: 200, headers: { a: 'b' }, body: Buffer.from('four and x') }]);
  });

  it('without a body has an empty one', () => {
    const { collector, outcomes, head } = collecting();
    head(401);
    collector.onResponseEnd();
    expect(outcomes).toEqual([{ status: 401, headers: {}, body: Buffer.alloc(0) }]);
  });

  it('is not the interim reply before it', () => {
    const { collector, outcomes, head } = collecting();
    head(100, { 'content-length': '99' });
    head(200);
    collector.onResponseEnd();
    expect(outcomes).toEqual([{ status: 200, headers: {}, body: Buffer.alloc(0) }]);
  });

  it('that switches protocols has only its status and headers, and closes the connection', () => {
    const { outcomes, connectionsEnded, start, head } = collecting();
    start();
    head(101, { upgrade: 'websocket' });
    expect(outcomes).toEqual([{ status: 101, headers: { upgrade: 'websocket' }, body: undefined }]);
    expect(connectionsEnded()).toBe(1);
  });

  it('may come after 100 interim replies, and is unreachable after more', () => {
    const { collector, outcomes, connectionsEnded, start, head } = collecting();
    start();
    for (let count = 0; count < 100; count += 1) head(103);
    expect([outcomes, connectionsEnded()]).toEqual([[], 0]);
    head(200);
    collector.onResponseEnd();
    expect(outcomes).toMatchObject([{ status: 200 }]);

    const endless = collecting();
    endless.start();
    for (let count = 0; count < 101; count += 1) endless.head(103);
    expect([endless.outcomes, endless.connectionsEnded()]).toEqual([[UNREACHABLE], 1]);
  });

  it.each([
    ['is longer than the limit', {}, '12345678901'],
    ['declares a length above the limit', { 'content-length': '11' }, ''],
    ['has an encoding that was not requested', { 'content-encoding': 'gzip' }, ''],
  ])('that %s has only its status and headers, and closes the connection', (_name, headers, body) => {
    const { outcomes, connectionsEnded, start, head, data } = collecting();
    start();
    head(200, headers);
    if (body) data(body);
    expect(outcomes).toEqual([{ status: 200, headers, body: undefined }]);
    expect(connectionsEnded()).toBe(1);
  });
});

describe('a deadline', () => {
  it('closes the connection of a request in flight', () => {
    const { collector, outcomes, connectionsEnded, start } = collecting();
    start();
    collector.expire('timeout');
    expect(outcomes).toEqual([{ noReply: 'timeout' }]);
    expect(connectionsEnded()).toBe(1);
  });

  it('aborts a request that waits for its connection, once it is connected', () => {
    const { collector, connectionsEnded, start } = collecting();
    collector.expire('timeout');
    expect(connectionsEnded()).toBe(0);
    start();
    expect(connectionsEnded()).toBe(1);
  });
});
