import type { StoreEntry, StoreLease } from '../../libs/session-auth/src/contract/session-store.js';
import type { World } from './world.js';

interface Kept {
  readonly expiresAtMs: number;
  readonly entry:
    | { readonly kind: 'value'; readonly value: Uint8Array }
    | { readonly kind: 'tombstone' }
    | { readonly kind: 'leased'; readonly lease: StoreLease; readonly takenAtMs: number };
}

/**
 * The store of all instances: one server, which executes commands one after the other, and has its own clock.
 */
export class SimulatedStore {
  readonly #world: World;
  readonly #kept = new Map<string, Kept>();
  readonly #alive = new Map<string, number>();
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

  get(key: string, lease?: StoreLease): StoreEntry {
    const storeTimeMs = this.nowMs;
    const kept = this.#find(key);
    if (kept) {
      const { entry, expiresAtMs } = kept;
      if (entry.kind === 'value')
        return { kind: 'value', value: entry.value, remainingMs: expiresAtMs - storeTimeMs, storeTimeMs };
      if (entry.kind === 'tombstone') return { kind: 'tombstone', storeTimeMs };
      return { kind: 'leased', lease: entry.lease.id, storeTimeMs };
    }
    if (!lease) return { kind: 'none', storeTimeMs };
    this.#refuseIfFull();
    this.#keep(key, lease.ttlMs, { kind: 'leased', lease, takenAtMs: storeTimeMs });
    return { kind: 'none', storeTimeMs };
  }

  set(key: string, value: Uint8Array, ttlMs: number): boolean {
    this.#refuseIfFull();
    if (this.#find(key)?.entry.kind === 'tombstone') return false;
    this.#keep(key, ttlMs, { kind: 'value', value });
    const past = this.past.get(key);
    if (past) past.push(value);
    else this.past.set(key, [value]);
    return true;
  }

  delete(key: string): boolean {
    const kind = this.#find(key)?.entry.kind;
    if (kind !== 'tombstone') this.#kept.delete(key);
    return kind === 'value';
  }

  releaseLease(key: string, id: string): void {
    const entry = this.#find(key)?.entry;
    if (entry?.kind === 'leased' && entry.lease.id === id) this.#kept.delete(key);
  }

  keepAlive(holder: string, ttlMs: number): void {
    this.#refuseIfFull();
    this.#alive.set(holder, this.nowMs + ttlMs);
  }

  setTombstone(key: string, ttlMs: number): void {
    if (this.isFull) this.#kept.delete(key);
    this.#refuseIfFull();
    this.#keep(key, ttlMs, { kind: 'tombstone' });
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
    else for (const map of [this.#kept, this.#alive, this.#revocations]) map.clear();
  }

  hasTombstone(matches: (key: string) => boolean): boolean {
    return this.keys.some((key) => matches(key) && this.#find(key)?.entry.kind === 'tombstone');
  }

  get keys(): string[] {
    return [...this.#kept.keys()];
  }

  #refuseIfFull(): void {
    if (this.isFull) throw new Error('OOM command not allowed');
  }

  #keep(key: string, ttlMs: number, entry: Kept['entry']): void {
    if (!(ttlMs > 0)) throw new Error(`A lifetime of ${ttlMs} ms`);
    this.#kept.set(key, { entry, expiresAtMs: this.nowMs + ttlMs });
  }

  #find(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    if (kept.expiresAtMs > this.nowMs && this.#isAlive(kept.entry)) return kept;
    this.#kept.delete(key);
    return undefined;
  }

  /**
   * Returns whether a lease is valid: always within its grace period, and then while its holder sends
   * heartbeats.
   */
  #isAlive(entry: Kept['entry']): boolean {
    if (entry.kind !== 'leased' || this.nowMs < entry.takenAtMs + entry.lease.graceMs) return true;
    return (this.#alive.get(entry.lease.holder) ?? -Infinity) > this.nowMs;
  }
}
