import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readSharedRecord, writeSharedRecord } from './shared-record.js';

const TTL_MS = 300_000;
const FRESH = { remainingMs: TTL_MS, storeTimeMs: 5_000 };
const read = (text: string, token: string, at: typeof FRESH): ReturnType<typeof readSharedRecord> =>
  readSharedRecord(text, token, { ...at, hostMs: Date.now() });
const write = (json: object, ageMs = 0): string =>
  writeSharedRecord(json, 'token', { ttlMs: TTL_MS, ageMs, sinceMs: 5_000, hostMs: Date.now() });

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a shared record', () => {
  it('has the members of the user record, without a token', () => {
    const text = write({ username: 'ann', auth_token: 'another' });
    expect(text).not.toContain('another');
    expect(read(text, 'token', FRESH)).toEqual({
      json: { username: 'ann' },
      ageMs: 0,
      ttlMs: TTL_MS,
      sinceMs: 5_000,
      clockDiffers: false,
    });
  });

  it('has the presented token again if the record contained it', () => {
    const text = write({ username: 'ann', auth_token: 'token' });
    expect(text).not.toContain('"token"');
    expect(read(text, 'token', FRESH)?.json).toEqual({ username: 'ann', auth_token: 'token' });
  });

  it('has it again wherever it was, also by another name, and never in the store', () => {
    const json = { data: { access_token: 'token', list: ['token', '"token"'] }, more: 'a token' };
    const text = write(json);
    expect(text).not.toMatch(/"token"[,\]}]/);
    expect(read(text, 'token', FRESH)?.json).toEqual(json);
    expect(read(write({ token: 'token' }), 'token', FRESH)?.json).toEqual({ token: 'token' });
  });

  it('is not written if a field has the text that stands for the token, and no name of a field does', () => {
    const [, mark = ''] = /"auth_token":("[^"]*")/.exec(write({ auth_token: 'token' })) ?? [];
    const text = JSON.parse(mark) as string;
    expect(() => write({ client_name: text })).toThrow(TypeError);
    expect(() => write({ list: [{ name: text }] })).toThrow(TypeError);
    expect(() => write({ list: ['first', text] })).toThrow(TypeError);
    expect(read(write({ [text]: 'name' }), 'token', FRESH)?.json).toEqual({ [text]: 'name' });
  });

  it.each([[undefined], [7], [null]])('has no token if that of the record is %p', (echoed) => {
    const text = write({ username: 'ann', auth_token: echoed });
    expect(read(text, 'token', FRESH)?.json).toEqual({ username: 'ann' });
  });
});

describe('the age of a shared record', () => {
  it('is at least that by its remaining lifetime', () => {
    expect(read(write({}), 'token', { remainingMs: TTL_MS - 20_000, storeTimeMs: 5_000 })?.ageMs).toBe(
      20_000,
    );
  });

  it('is at least that by the clock of the store: a record may be stored late', () => {
    expect(read(write({}), 'token', { remainingMs: TTL_MS, storeTimeMs: 35_000 })?.ageMs).toBe(30_000);
  });

  it('is at least that by the wall clock: a writer of the store could restore an expired record', () => {
    const text = write({}, 1_000);
    jest.setSystemTime(Date.now() + 40_000);
    expect(read(text, 'token', FRESH)?.ageMs).toBe(41_000);
  });

  it.each([
    ['the store, by its remaining lifetime', { remainingMs: TTL_MS + 1 }],
    ['the store, by its time', { storeTimeMs: 4_999 }],
    ['this host', { hostMs: 0 }],
  ])('is unknown if the clock of %s has stepped back [Q14]', (_name, stepped) => {
    jest.setSystemTime(Date.now());
    const text = write({}, 0);
    const hostMs = 'hostMs' in stepped ? Date.now() - 1_001 : Date.now();
    expect(readSharedRecord(text, 'token', { ...FRESH, ...stepped, hostMs })?.ageMs).toBe(Infinity);
  });

  it('is 0 if the clocks of two hosts differ by up to a second', () => {
    expect(readSharedRecord(write({}), 'token', { ...FRESH, hostMs: Date.now() - 1_000 })?.ageMs).toBe(0);
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
    expect(read(text, 'token', FRESH)?.clockDiffers).toBe(clockDiffers);
  });

  it('is not the age of the record', () => {
    const text = write({});
    jest.setSystemTime(Date.now() + 200_000);
    expect(read(text, 'token', { remainingMs: TTL_MS - 200_000, storeTimeMs: 5_000 })?.clockDiffers).toBe(
      false,
    );
  });
});

describe('a record of another form', () => {
  const GOOD = { confirmedAt: 0, ttlMs: TTL_MS, since: 5_000, json: {} };

  it('is refused', () => {
    expect(read(JSON.stringify(GOOD), 'token', FRESH)).toBeDefined();
    const members = Object.keys(GOOD) as (keyof typeof GOOD)[];
    const forms = members.flatMap((name) =>
      [undefined, null, 'text', true].map((value) => ({ ...GOOD, [name]: value })),
    );
    expect(forms.map((form) => read(JSON.stringify(form), 'token', FRESH))).toEqual(
      forms.map(() => undefined),
    );
    expect(['', '{', 'null', '7', '[]'].map((text) => read(text, 'token', FRESH))).toEqual(
      Array(5).fill(undefined),
    );
  });
});
