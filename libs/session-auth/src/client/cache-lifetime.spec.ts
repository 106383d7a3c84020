import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readCacheForMs } from './reply.js';

const TTL_MS = 60_000;

const cacheForMs = (control?: unknown, age?: unknown): number | undefined =>
  readCacheForMs(
    { ...(control !== undefined && { 'cache-control': control }), ...(age !== undefined && { age }) },
    TTL_MS,
  );

describe('the lifetime that a reply allows', () => {
  it.each<[header: unknown, expected: number | undefined]>([
    [undefined, undefined],
    [' , ,', undefined],
    ['private="set-cookie, no-store"', undefined],
    ['x-no-store, no-storex, max-aged=1', undefined],
    ['ext="a\\"no-store, max-age=1"', undefined],
    ['NO-Store', 0],
    ['no-store=x', 0],
    ['private, no-cache', 0],
    ['max-age=0', 0],
    ['Max-Age=10', 10_000],
    ['max-age=20, max-age=10', 10_000],
    ['max-age="10"', 10_000],
    ['\t max-age=10 \t,', 10_000],
    ['s-maxage=10', 10_000],
    ['max-age=20, s-maxage=10', 10_000],
    ['max-age=10, s-maxage=20', 10_000],
    ['max-age=60', undefined],
    [`max-age=${'9'.repeat(400)}, max-age=1`, 1_000],
  ])('by Cache-Control %j is %p ms', (header, expected) => {
    expect(cacheForMs(header)).toBe(expected);
  });

  it.each<[header: unknown]>([
    ['max-age'],
    ['max-age=" 10"'],
    ['max-age=-1'],
    ['max-age = 10'],
    ['max-age=10 s-maxage=10'],
    ['private="unclosed, max-age=10'],
    ['max-age=１０'],
    [10],
    [['max-age=10', 10]],
  ])('by an invalid Cache-Control %j is 0', (header) => {
    expect(cacheForMs(header)).toBe(0);
  });

  it.each<[header: unknown, expected: number | undefined]>([
    [['private', 'max-age=10'], 10_000],
    [['max-age=10', 'no-store'], 0],
    [['private="a', 'no-store"'], 0],
    [[], undefined],
  ])('by several lines of Cache-Control %j is the shortest: %p ms', (header, expected) => {
    expect(cacheForMs(header)).toBe(expected);
  });

  it.each<[control: unknown, age: unknown, expected: number | undefined]>([
    [undefined, '10', 50_000],
    ['max-age=30', '10', 20_000],
    ['max-age=30', '30', 0],
    [`max-age=${'9'.repeat(400)}`, '9'.repeat(400), 0],
    ['max-age=30', ' 10\t', 20_000],
    ['max-age=30', '0, 10', 20_000],
    ['max-age=30', [], 30_000],
    ['max-age=30', '', 0],
    ['max-age=30', '-5', 0],
    ['max-age=30', 5, 0],
    [undefined, 'x', 0],
  ])('by Cache-Control %j and Age %j is %p ms', (control, age, expected) => {
    expect(cacheForMs(control, age)).toBe(expected);
  });

  const anyNumber = fc.oneof(
    fc.integer().map(String),
    fc.double().map(String),
    fc.string({ maxLength: 4 }),
    fc.bigInt().map(String),
  );
  const anyName = fc.constantFrom('max-age', 's-maxage', 'No-Store', 'no-cache', 'private', 'ext', 'Age', '');
  const anyDirective = fc
    .tuple(anyName, fc.constantFrom('', '=', '="', ' ='), anyNumber, fc.constantFrom('', '"'))
    .map((parts) => parts.join(''));
  const anyField = fc.oneof(
    fc.array(anyDirective, { maxLength: 4 }).map((directives) => directives.join(',')),
    fc.array(anyDirective, { maxLength: 3 }),
    anyNumber,
    fc.string(),
    fc.anything(),
  );

  it('is never negative, and never longer than ttlMs, for any headers', () => {
    fc.assert(
      fc.property(anyField, anyField, fc.integer({ min: 0, max: 300_000 }), (control, age, ttlMs) => {
        const allowed = readCacheForMs({ 'cache-control': control, age }, ttlMs);
        if (allowed === undefined) return;
        expect(allowed).toBeGreaterThanOrEqual(0);
        expect(allowed).toBeLessThan(ttlMs);
      }),
    );
  });

  it('by an invalid header of thousands of characters is 0', () => {
    for (const part of ['a', ' ', '"', ',', '=', '\\', 'a=', 'a="', '" ,']) {
      expect(cacheForMs(`private="${part.repeat(8_000)}x;`)).toBe(0);
    }
  });
});
