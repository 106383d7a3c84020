import type { StoreEntry } from '../../libs/session-auth/src/contract/session-store.js';
import type { World } from './world.js';

interface Kept {
  readonly expiresAtMs: number;
  /** Of a session. A tombstone has none. */
  readonly value?: Uint8Array;
}

/**
 * The store of all instances: one server, which executes commands one after the other, and has its own clock.
 */
export class SimulatedStore {
  readonly #world: World;
  readonly #kept = new Map<string, Kept>();
  readonly #revocations = new Map<string, { readonly atMs: number; readonly expiresAtMs: number }>();
  /** Former values of each key, for a lying store. */
  readonly past = new Map<string, Uint8Array[]>();
  /** Its clock minus the virtual time. */
  clockOffsetMs: number;
  /** Whether it is out of memory: commands that need more fail. */
  isFull = false;

  constructor(world: World, clockOffsetMs: number) {
    this.#world = world;
    this.clockOffsetMs = clockOffsetMs;
  }

  get nowMs(): number {
    return Math.floor(this.#world.nowMs + this.clockOffsetMs);
  }

  get(key: string): StoreEntry {
    const storeTimeMs = this.nowMs;
    const kept = this.#find(key);
    if (!kept) return { kind: 'none', storeTimeMs };
    const { value, expiresAtMs } = kept;
    if (!value) return { kind: 'tombstone', storeTimeMs };
    return { kind: 'value', value, remainingMs: expiresAtMs - storeTimeMs, storeTimeMs };
  }

  set(key: string, value: Uint8Array, ttlMs: number): boolean {
    this.#refuseIfFull();
    if (this.#isTombstone(key)) return false;
    this.#keep(key, ttlMs, value);
    const past = this.past.get(key);
    if (past) past.push(value);
    else this.past.set(key, [value]);
    return true;
  }

  delete(key: string): boolean {
    return this.#find(key) !== undefined && !this.#isTombstone(key) && this.#kept.delete(key);
  }

  setTombstone(key: string, ttlMs: number): void {
    if (this.isFull) this.#kept.delete(key);
    this.#refuseIfFull();
    this.#keep(key, ttlMs);
  }

  clearTombstone(key: string): void {
    this.#kept.delete(key);
  }

  setRevocation(key: string, ttlMs: number): void {
    this.#refuseIfFull();
    this.#revocations.set(key, { atMs: this.nowMs, expiresAtMs: this.nowMs + ttlMs });
  }

  getRevocations(keys: readonly string[]): (number | undefined)[] {
    return keys.map((key) => {
      const revocation = this.#revocations.get(key);
      return revocation && revocation.expiresAtMs > this.nowMs ? revocation.atMs : undefined;
    });
  }

  lose(key?: string): void {
    if (key !== undefined) this.#kept.delete(key);
    else for (const map of [this.#kept, this.#revocations]) map.clear();
  }

  hasTombstone(matches: (key: string) => boolean): boolean {
    return this.keys.some((key) => matches(key) && this.#isTombstone(key));
  }

  get keys(): string[] {
    return [...this.#kept.keys()];
  }

  #refuseIfFull(): void {
    if (this.isFull) throw new Error('OOM command not allowed');
  }

  #keep(key: string, ttlMs: number, value?: Uint8Array): void {
    if (!(ttlMs > 0)) throw new Error(`A lifetime of ${ttlMs} ms`);
    this.#kept.set(key, { expiresAtMs: this.nowMs + ttlMs, ...(value && { value }) });
  }

  #isTombstone(key: string): boolean {
    const kept = this.#find(key);
    return kept !== undefined && !kept.value;
  }

  #find(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    if (!kept || kept.expiresAtMs > this.nowMs) return kept;
    this.#kept.delete(key);
    return undefined;
  }
}
