import type { Checker } from './checker.js';
import type { Host } from './host.js';
import type { Plan } from './plan.js';
import type { StoreLink } from './store-link.js';
import type { World } from './world.js';

/** Tolerance in milliseconds: around the end of a lifetime, and of a time limit. */
export const EDGE_MS = 10;

/** A check that may look its session up, and the counts of its link when it began. */
interface LookUp {
  readonly beganAtMs: number;
  readonly gets: number;
  readonly link: StoreLink;
}

/**
 * Compares what the store costs and saves with what the library promises: the time that a check loses to it,
 * and calls of the service.
 */
export class Costs {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #checker: Checker;
  /** Checks that have not called the service yet, by host and token. */
  readonly #lookUps = new Map<string, LookUp>();
  readonly #calls: { readonly atMs: number; readonly host: Host; answeredAtMs: number }[] = [];
  /** Total milliseconds that event loops have been blocked. */
  blockedMs = 0;

  constructor(parts: { world: World; plan: Plan; checker: Checker }) {
    this.#world = parts.world;
    this.#plan = parts.plan;
    this.#checker = parts.checker;
  }

  get calls(): number {
    return this.#calls.length;
  }

  began(name: string, link: StoreLink): void {
    this.#lookUps.set(name, { beganAtMs: this.#world.nowMs, gets: link.gets, link });
  }

  answered(name: string): void {
    this.#lookUps.delete(name);
  }

  /** The service is called. Returns a function to call when it has answered. */
  called(host: Host, name: string): () => void {
    this.#judgeLookUp(name);
    const call = { atMs: this.#world.nowMs, host, answeredAtMs: Infinity };
    this.#calls.push(call);
    return () => void (call.answeredAtMs = this.#world.nowMs);
  }

  /** Checks that a check has lost at most the time of one command to the store. */
  #judgeLookUp(name: string): void {
    const lookUp = this.#lookUps.get(name);
    this.#lookUps.delete(name);
    if (!lookUp || this.blockedMs > 0) return;
    // A check that has looked nothing up has joined a call, which is made again.
    if (lookUp.link.gets === lookUp.gets) return;
    const tookMs = this.#world.nowMs - lookUp.beganAtMs;
    if (tookMs > this.#plan.storeTimeoutMs + EDGE_MS)
      this.#checker.fail(`budget: ${name} loses ${tookMs.toFixed(1)} ms to the store`);
  }

  /**
   * Checks that, without faults and revocations, no instance calls the service while the store has an answer
   * that is not due for a refresh.
   */
  judgeCalls(): void {
    if (this.#plan.kind !== 'calm') return;
    const { ttlMs, refreshAheadMs } = this.#plan.settings.memory;
    for (const { atMs, host } of this.#calls) {
      const known = this.#calls.find(
        (other) =>
          other.answeredAtMs + EDGE_MS < atMs && atMs - other.atMs < ttlMs - refreshAheadMs - EDGE_MS,
      );
      if (known)
        this.#checker.fail(
          `calls: ${host.name} asks ${(atMs - known.answeredAtMs).toFixed(1)} ms after ${known.host.name} had an answer`,
        );
    }
  }
}
