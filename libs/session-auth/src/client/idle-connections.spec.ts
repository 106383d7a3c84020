import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { unavailable } from '../contract/outcome.js';
import { Connections } from './connections.js';
import { Deadline } from './deadline.js';
import { STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

/** All that can be faked but `setTimeout` and `clearTimeout`: the clock moves by hand. */
const REAL = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
] as const;
/** The first byte is awaited for this long, unless the service is known to be slow. */
const PATIENCE_MS = 1_000;

let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  jest.useFakeTimers({ doNotFake: [...REAL] });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** A service some of whose connections are dead: nothing that is sent over them arrives. */
class Service {
  readonly dead = new Set<Socket>();
  lost = 0;
  #isHeld = false;
  #held: (() => void)[] = [];

  private constructor(
    readonly served: Awaited<ReturnType<typeof serve>>,
    readonly calls: Connections,
  ) {}

  static async started(maxConnections = 60): Promise<Service> {
    const served = await serve((request, response) => {
      if (!service.dead.has(request.socket)) service.#answer(response);
    });
    const limits = { maxConnections, maxResponseBytes: 100, proxy: undefined };
    const calls = new Connections({ ...limits, connectionLost: () => void (service.lost += 1) });
    closeLater(() => calls.close());
    const service: Service = new Service(served, calls);
    return service;
  }

  /** A service whose connections, so many, were idle and have died. */
  static async withDead(
    count: number,
    { maxConnections = 60, idleMs = 500 }: { maxConnections?: number; idleMs?: number } = {},
  ): Promise<Service> {
    const service = await Service.started(maxConnections);
    await service.use(count, { idleMs });
    service.kill();
    return service;
  }

  get seen(): readonly IncomingMessage[] {
    return this.served.seen;
  }

  async send(request = requestTo(this.served.origin)): Promise<unknown> {
    const answer = await this.calls.exchange(request);
    return 'status' in answer ? answer.status : answer;
  }

  /** The connection of a request. */
  socket(request: number): Socket {
    const { socket } = this.seen[request] ?? {};
    if (!socket) throw new Error(`There was no request ${request}`);
    return socket;
  }

  /** Resolves when so many requests have arrived since the start. */
  async arrivals(count: number): Promise<void> {
    while (this.seen.length < count) await once(this.served.server, 'request');
  }

  hold(): void {
    this.#isHeld = true;
  }

  releaseFirst(): void {
    this.#held.shift()?.();
  }

  release(): void {
    this.#isHeld = false;
    for (const answer of this.#held.splice(0)) answer();
  }

  /** Uses so many connections at once, each for `tookMs`, and leaves them idle. */
  async use(count: number, { tookMs = 0, idleMs = 500 } = {}): Promise<void> {
    this.hold();
    const answers = Array.from({ length: count }, () => this.send());
    await this.arrivals(this.seen.length + count);
    nowMs += tookMs;
    this.release();
    expect(await Promise.all(answers)).toEqual(Array(count).fill(200));
    nowMs += idleMs;
  }

  kill(): void {
    for (const { socket } of this.seen) this.dead.add(socket);
  }

  #answer(response: ServerResponse): void {
    if (this.#isHeld) this.#held.push(() => response.end());
    else response.end();
  }
}

const TIMED_OUT = unavailable('timeout');

describe('a check on a connection that was idle', () => {
  it('and brings no byte is sent once more on a new one, which is reported [P63]', async () => {
    const service = await Service.withDead(1, { maxConnections: 1 });
    const answer = service.send();
    await service.arrivals(2);
    const closed = once(service.socket(1), 'close');
    jest.advanceTimersByTime(PATIENCE_MS - 1);
    expect(service.served.connections()).toBe(1);
    jest.advanceTimersByTime(1);
    expect([await answer, service.seen.length, service.lost]).toEqual([200, 3, 1]);
    await closed;
    expect([await service.send(), service.seen.length]).toEqual([200, 4]);
  });

  it('waits for a quarter of a short time [P63]', async () => {
    const service = await Service.withDead(1);
    const deadline = new Deadline(400);
    const answer = service.send(requestTo(service.served.origin, { deadline }));
    await service.arrivals(2);
    jest.advanceTimersByTime(100);
    expect([await answer, deadline.lostMs]).toEqual([200, 100]);
  });

  it('closes those that were idle for as long when it was dead [P63]', async () => {
    const service = await Service.withDead(8);
    const answer = service.send();
    await service.arrivals(9);
    jest.advanceTimersByTime(PATIENCE_MS);
    expect([await answer, await service.send()]).toEqual([200, 200]);
    expect([service.seen.length, service.served.connections(), service.lost]).toEqual([11, 9, 1]);
  });

  it('gets the answer of a connection that is late, but not dead, and its second call ends [P63]', async () => {
    const service = await Service.started();
    await service.use(1);
    service.hold();
    const answer = service.send();
    await service.arrivals(2);
    jest.advanceTimersByTime(PATIENCE_MS);
    await service.arrivals(3);
    const closed = once(service.socket(2), 'close');
    service.dead.add(service.socket(2));
    service.releaseFirst();
    expect([await answer, service.lost]).toEqual([200, 0]);
    await closed;
  });

  it('is sent once to a service that usually takes as long [P63]', async () => {
    const service = await Service.started();
    await service.use(1, { tookMs: 31_000 });
    service.hold();
    const answer = service.send();
    await service.arrivals(2);
    jest.advanceTimersByTime(59_000);
    service.release();
    expect([await answer, service.seen.length]).toEqual([200, 2]);
  });

  it('is sent once if the connection was used a moment ago, dead or not [P63]', async () => {
    const service = await Service.withDead(1, { idleMs: 499 });
    const answer = service.send();
    await service.arrivals(2);
    jest.advanceTimersByTime(60_000);
    expect([await answer, service.seen.length]).toEqual([TIMED_OUT, 2]);
  });

  it('ends at its deadline if the new one brings no reply either [P63]', async () => {
    const service = await Service.withDead(1);
    service.hold();
    const answer = service.send();
    await service.arrivals(2);
    jest.advanceTimersByTime(PATIENCE_MS);
    await service.arrivals(3);
    jest.advanceTimersByTime(60_000);
    expect([await answer, service.seen.length, service.lost]).toEqual([TIMED_OUT, 3, 0]);
  });

  it('is decided by the new one if it closes meanwhile [P63]', async () => {
    const service = await Service.withDead(1);
    service.hold();
    const answer = service.send();
    await service.arrivals(2);
    jest.advanceTimersByTime(PATIENCE_MS);
    await service.arrivals(3);
    service.seen[1]?.socket.resetAndDestroy();
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    service.release();
    expect([await answer, service.lost]).toEqual([200, 1]);
  });

  it('fails as the new one does [P63]', async () => {
    const service = await Service.withDead(1);
    const answer = service.send();
    await service.arrivals(2);
    service.served.server.close();
    jest.advanceTimersByTime(PATIENCE_MS);
    expect([await answer, service.lost]).toEqual([UNREACHABLE, 0]);
  });

  it('makes the next one connect if the service has closed it, and others with it [P63]', async () => {
    const service = await Service.withDead(2);
    const answer = service.send();
    await service.arrivals(3);
    service.seen[2]?.socket.resetAndDestroy();
    expect([await answer, await service.send()]).toEqual([STALE_CONNECTION, 200]);
    expect(service.served.connections()).toBe(3);
  });
});

describe('a connection', () => {
  it.each([
    [0, 30_000],
    [1, 60_000],
  ])('is used for 30 to 60 s, in turns with others (%d) [P64]', async (random, ageMs) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    const service = await Service.started();
    const counts: number[] = [];
    for (const idleMs of [0, ageMs - 1, 1, 0]) {
      await service.use(1, { idleMs });
      counts.push(service.served.connections());
    }
    expect(counts).toEqual([1, 1, 1, 2]);
  });

  it('that is too old closes when it would be used again [P64]', async () => {
    const service = await Service.started();
    await service.use(1, { idleMs: 60_000 });
    const closed = once(service.socket(0), 'close');
    expect(await service.send()).toBe(200);
    await closed;
  });
});
