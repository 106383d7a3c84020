import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { serve } from './child-serve.js';
import type { Span } from './clock.js';
import { StallLog } from './stall-log.js';

/**
 * State of a link between an instance and Redis. `cut`: connections are reset, and new ones too. `lost`:
 * every packet is lost, and connections of this time stay dead. `held`: data is delayed until the link is
 * open again. `answersHeld`: only data from Redis is delayed.
 */
export type LinkState = 'open' | 'cut' | 'lost' | 'held' | 'answersHeld' | { readonly delayMs: number };

/** One connection through a link. */
class Connection {
  isDead = false;
  readonly #near: Socket;
  readonly #far: Socket;

  constructor(link: Link, near: Socket, port: number) {
    this.#near = near;
    this.#far = connect(port, '127.0.0.1');
    for (const socket of [near, this.#far]) socket.setNoDelay(true).on('error', () => socket.destroy());
    near.once('close', () => this.#close(link));
    this.#far.once('close', () => this.#close(link));
    this.#pass(near, this.#far, () => link.passage('request'));
    this.#pass(this.#far, near, () => link.passage('answer'));
  }

  reset(): void {
    this.#near.resetAndDestroy();
    this.#far.resetAndDestroy();
  }

  /** A dead connection is closed only by the instance. */
  #close(link: Link): void {
    if (this.isDead && !this.#near.destroyed) return;
    this.#near.destroy();
    this.#far.destroy();
    link.connections.delete(this);
  }

  #pass(from: Socket, to: Socket, passage: () => Promise<void> | undefined): void {
    let before: Promise<void> | undefined;
    from.on('data', (bytes: Buffer) => {
      if (this.isDead) return;
      const opens = passage();
      if (!opens && !before) return void to.write(bytes);
      const passed = Promise.all([before, opens]).then(() => {
        if (before === passed) before = undefined;
        if (!this.isDead && !to.destroyed) to.write(bytes);
      });
      before = passed;
    });
  }
}

/** The link of one instance: a TCP proxy with a port of its own. */
class Link {
  readonly connections = new Set<Connection>();
  readonly #server: Server;
  readonly #silent = new Set<Socket>();
  #state: LinkState = 'open';
  #opens: Promise<void> | undefined;
  #open: (() => void) | undefined;

  private constructor(server: Server, port: number) {
    this.#server = server;
    server.on('connection', (near) => this.#join(near, port));
  }

  static async to(port: number): Promise<Link> {
    const server = createServer();
    const link = new Link(server, port);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  set(state: LinkState): void {
    this.#open?.();
    this.#opens =
      state === 'held' || state === 'answersHeld'
        ? new Promise((resolve) => (this.#open = resolve))
        : undefined;
    this.#state = state;
    for (const connection of this.connections) {
      if (state === 'cut') connection.reset();
      if (state === 'lost') connection.isDead = true;
    }
  }

  /** Returns a promise that resolves when bytes may pass; `undefined` if they may pass now. */
  passage(direction: 'request' | 'answer'): Promise<void> | undefined {
    const state = this.#state;
    if (state === 'held' || (state === 'answersHeld' && direction === 'answer')) return this.#opens;
    if (typeof state !== 'object') return undefined;
    return new Promise((resolve) => setTimeout(resolve, state.delayMs));
  }

  close(): void {
    this.#server.close();
    for (const connection of this.connections) connection.reset();
    for (const socket of this.#silent) socket.destroy();
  }

  #join(near: Socket, port: number): void {
    near.on('error', () => near.destroy());
    if (this.#state === 'cut') near.resetAndDestroy();
    else if (this.#state === 'lost')
      this.#silent.add(near.resume().once('close', () => this.#silent.delete(near)));
    else this.connections.add(new Connection(this, near, port));
  }
}

const stalls = new StallLog();
let links: Link[] = [];

const handlers = {
  /** Creates links to a port of this machine. Returns their ports. */
  start: async ({ count, port }: { count: number; port: number }): Promise<number[]> => {
    links = await Promise.all(Array.from({ length: count }, () => Link.to(port)));
    return links.map((link) => link.port);
  },
  set: ({ instances, state }: { instances: readonly number[]; state: LinkState }): void => {
    for (const instance of instances) links[instance]?.set(state);
  },
  takeStalls: (): Span[] => stalls.take(),
  stop: (): Promise<void> => {
    for (const link of links) link.close();
    return Promise.resolve();
  },
};

export type NetworkApi = typeof handlers;
serve(handlers);
