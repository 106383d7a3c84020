import type { StoreEntryKind, StoreLease } from '../contract/session-store.js';

export const VALUE = 'V';
export const TOMBSTONE = 'E';
const LEASE = 'L';

/** Maximum bytes of an entry: a sealed record of 64 KiB, and a margin. */
export const MAX_ENTRY_BYTES = 131_072;
/** Id, holder, and the remaining milliseconds at which the grace period ends. */
const STORED_LEASE = /^L([\w.-]+):([\w-]+):(-?\d+)$/;
const UNUSABLE: StoreEntryKind = { kind: 'value', value: new Uint8Array(), remainingMs: 0 };

interface StoredLease {
  readonly bytes: Buffer;
  readonly holder: string;
  /** Whether the lease ends as soon as the heartbeat of its holder expires. */
  readonly isGraceOver: boolean;
  /** Whether the lease never expires: no instance has set it, and it counts as ended. */
  readonly isEndless: boolean;
}

export interface DecodedEntry {
  readonly entry: StoreEntryKind;
  readonly lease?: StoredLease;
}

export function valueEntry(value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(VALUE), value]);
}

export function leaseEntry({ id, holder, ttlMs, graceMs }: StoreLease): string {
  return `${leasePrefix(id)}${holder}:${Math.floor(ttlMs - graceMs)}`;
}

export function leasePrefix(id: string): string {
  return `${LEASE}${id}:`;
}

/** Decodes an entry. An entry of an unknown kind becomes a value that can't be opened. */
export function decodeEntry(bytes: Buffer, remainingMs: number): DecodedEntry {
  const kind = String.fromCharCode(bytes[0] ?? 0);
  if (kind === VALUE)
    return { entry: { kind: 'value', value: bytes.subarray(1), remainingMs: Math.max(0, remainingMs) } };
  if (kind === TOMBSTONE) return { entry: { kind: 'tombstone' } };
  const [, id, holder, graceOverMs] = STORED_LEASE.exec(kind === LEASE ? bytes.toString('latin1') : '') ?? [];
  if (id === undefined || holder === undefined) return { entry: UNUSABLE };
  return {
    entry: { kind: 'leased', lease: id },
    lease: { bytes, holder, isGraceOver: remainingMs <= Number(graceOverMs), isEndless: remainingMs < 0 },
  };
}
