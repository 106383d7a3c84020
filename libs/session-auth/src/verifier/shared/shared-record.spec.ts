import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { tokenKeyOf } from '../../contract/session-identity.js';
import { readSharedRecord, writeSharedRecord } from './shared-record.js';

const TOKEN_KEY = tokenKeyOf('token');
const TTL_MS = 300_000;
const FRESH = { remainingMs: TTL_MS, storeTimeMs: 5_000 };
const write = (json: object, ageMs = 0): string => writeSharedRecord(json, TOKEN_KEY, { ttlMs: TTL_MS, ageMs, sinceMs: 5_000 });

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a shared record', () => {
  it('has the members of the user record, without a token', () => {
    const text = write({ username: 'ann', auth_token: 'another' });
    expect(text).not.toContain('another');
    expect(readSharedRecord(text, 'token', FRESH)).toEqual({ json: { username: 'ann' }, ageMs: 0, sinceMs: 5_000, clockDiffers: false });
  });

  it('has the presented token again if the record contained it', () => {
    const text = write({ username: 'ann', auth_token: 'token' });
    expect(text).not.toContain('"token"');
    expect(readSharedRecord(text, 'token', FRESH)?.json).toEqual({ username: 'ann', auth_token: 'token' });
  });

  it.each([[undefined], [7], [null], [['token']]])('has no token if that of the record is %p', (echoed) => {
    const text = write({ username: 'ann', auth_token: echoed });
    expect(readSharedRecord(text, 'token', FRESH)?.json).toEqual({ username: 'ann' });
  });
});

describe('the age of a shared record', () => {
  it('is at least that by its remaining lifetime', () => {
    expect(readSharedRecord(write({}), 'token', { remainingMs: TTL_MS - 20_000, storeTimeMs: 5_000 })?.ageMs).toBe(20_000);
  });

  it('is at least that by the clock of the store: a record may be stored late', () => {
    expect(readSharedRecord(write({}), 'token', { remainingMs: TTL_MS, storeTimeMs: 35_000 })?.ageMs).toBe(30_000);
  });

  it('is at least that by the wall clock: a writer of the store could restore an expired record', () => {
    const text = write({}, 1_000);
    jest.setSystemTime(Date.now() + 40_000);
    expect(readSharedRecord(text, 'token', FRESH)?.ageMs).toBe(41_000);
  });

  it('is never negative', () => {
    const text = write({});
    jest.setSystemTime(Date.now() - 40_000);
    expect(readSharedRecord(text, 'token', { remainingMs: TTL_MS + 1, storeTimeMs: 4_000 })?.ageMs).toBe(0);
  });
});

describe('a difference of the wall clocks', () => {
  it.each([
    [60_000, false],
    [60_001, true],
    [-60_000, false],
    [-60_001, true],
  ])('of %d ms is recognised only beyond a minute: %p', (differenceMs, clockDiffers) => {
    const text = write({});
    jest.setSystemTime(Date.now() + differenceMs);
    expect(readSharedRecord(text, 'token', FRESH)?.clockDiffers).toBe(clockDiffers);
  });

  it('is not the age of the record', () => {
    const text = write({});
    jest.setSystemTime(Date.now() + 200_000);
    expect(readSharedRecord(text, 'token', { remainingMs: TTL_MS - 200_000, storeTimeMs: 5_000 })?.clockDiffers).toBe(false);
  });
});

describe('a record of another form', () => {
  const GOOD = { confirmedAt: 0, ttlMs: TTL_MS, hasToken: false, since: 5_000, json: {} };

  it('is refused', () => {
    expect(readSharedRecord(JSON.stringify(GOOD), 'token', FRESH)).toBeDefined();
    const members = (Object.keys(GOOD) as (keyof typeof GOOD)[]).filter((name) => name !== 'hasToken');
    const forms = members.flatMap((name) => [undefined, null, 'text', true].map((value) => ({ ...GOOD, [name]: value })));
    expect(forms.map((form) => readSharedRecord(JSON.stringify(form), 'token', FRESH))).toEqual(forms.map(() => undefined));
    expect(['', '{', 'null', '7', '[]'].map((text) => readSharedRecord(text, 'token', FRESH))).toEqual(Array(5).fill(undefined));
  });
});
