import { describe, expect, it } from '@jest/globals';
import { isDeeperThan } from './json-depth.js';

const nested = (levels: number, open: string, close: string): unknown =>
  JSON.parse(open.repeat(levels) + '1' + close.repeat(levels));

describe('isDeeperThan', () => {
  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['objects in arrays beside flat values', '[1,{},"x",', ']'],
  ])('counts the levels of %s', (_, open, close) => {
    expect(isDeeperThan(4, nested(3, open, close))).toBe(false);
    expect(isDeeperThan(4, nested(5, open, close))).toBe(true);
  });

  it.each([null, 1, 'text', true])('finds no level in %j', (json) => {
    expect(isDeeperThan(0, json)).toBe(false);
  });

  it('needs no stack for 100,000 levels', () => {
    expect(isDeeperThan(32, nested(100_000, '[', ']'))).toBe(true);
  });

  it('checks the value of the name __proto__', () => {
    expect(isDeeperThan(1, JSON.parse('{"__proto__":{}}'))).toBe(true);
  });
});
