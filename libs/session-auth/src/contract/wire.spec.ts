import { describe, expect, it } from '@jest/globals';
import { parseObject } from './wire.js';

describe('a JSON object', () => {
  it('is parsed, and anything else is not', () => {
    expect(parseObject('{"name":"ann"}')).toEqual({ name: 'ann' });
    expect(['null', '7', 'true', '"text"', '[]', '{', ''].map((text) => parseObject(text))).toEqual(
      Array(7).fill(undefined),
    );
  });
});
