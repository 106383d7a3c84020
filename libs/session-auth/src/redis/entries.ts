import { types } from 'node:util';
import type { StoreEntryKind, StoreLease } from '../contract/session-store.js';

/** First byte of an entry: its kind. */
export const VALUE = 'V';
export const TOMBSTONE = 'E';
const LEASE = 'L';

/** A sealed record of 64 KiB, and some. */
export const MAX_ENTRY_BYTES = 131_072;
/** Id, holder, and the remaining milliseconds at which the grace is over. */
const STORED_LEASE = /^L([\w.-]+):([\w-]+):(-?\d+)$/;
const UNUSABLE: StoreEntryKind = { kind: 'value', value: new Uint8Array(), remainingMs: 0 };

/** A lease as it is stored. */
export interface StoredLease {
  readonly bytes: Buffer;
  readonly holder: string;
  /** Whether it ends as soon as its holder shows no sign of life. */
  readonly isGraceOver: boolean;
}

/** What a key has, and the lease if it is one. */
export interface DecodedEntry {
  readonly entry: StoreEntryKind;
  readonly lease?: StoredLease;
}

/** The entry of a value. */
export function valueEntry(value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(VALUE), value]);
}

/** The entry of a lease. */
export function leaseEntry({ id, holder, ttlMs, graceMs }: StoreLease): string {
  return `${leasePrefix(id)}${holder}:${Math.floor(ttlMs - graceMs)}`;
}

/** How the entry of the lease with this id begins. */
export function leasePrefix(id: string): string {
  return `${LEASE}${id}:`;
}

/** Reads an entry. One of an unknown kind is a value that cannot be opened. */
export function decodeEntry(bytes: Buffer, remainingMs: number): DecodedEntry {
  const kind = String.fromCharCode(bytes[0] ?? 0);
  if (kind === VALUE) return { entry: { kind: 'value', value: bytes.subarray(1), remainingMs: Math.max(0, remainingMs) } };
  if (kind === TOMBSTONE) return { entry: { kind: 'tombstone' } };
  const [, id, holder, graceOverMs] = STORED_LEASE.exec(kind === LEASE ? bytes.toString('latin1') : '') ?? [];
  if (id === undefined || holder === undefined) return { entry: UNUSABLE };
  return { entry: { kind: 'leased', lease: id }, lease: { bytes, holder, isGraceOver: remainingMs <= Number(graceOverMs) } };
}

/** Settles as the work does, or rejects when the time is over or the signal is aborted. Leaves no timer and no listener behind. */
export function bounded<Result>(work: Promise<Result>, ms: number, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => settle(() => reject(new Error('Aborted')));
    const timer = setTimeout(() => settle(() => reject(new NoAnswer())), ms).unref();
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      how();
    };
    signal.addEventListener('abort', onAbort);
    work.then(
      (result) => settle(() => resolve(result)),
      (error: unknown) => settle(() => reject(toError(error))),
    );
    if (signal.aborted) onAbort();
  });
}

/** The time of a {@link bounded} work is over. */
export class NoAnswer extends Error {}

/** An error of another realm is one too. */
function toError(error: unknown): Error {
  return types.isNativeError(error) ? error : new Error('Rejected');
}
