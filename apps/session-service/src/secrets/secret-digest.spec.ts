import { describe, expect, it } from '@jest/globals';
import { digestOf } from './secret-digest.js';

describe('digestOf', () => {
  it('is SHA-256 in hexadecimal', () => {
    expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
