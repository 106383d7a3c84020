import { describe, expect, it } from '@jest/globals';
import { digestOf } from '../secrets/secret-digest.js';
import { ApplicationKeys } from './application-keys.js';

describe('ApplicationKeys', () => {
  const keys = new ApplicationKeys([digestOf('first-key'), digestOf('second-key')]);

  it('include those whose digest they have, and no other text', () => {
    for (const key of ['first-key', 'second-key']) expect(keys.include(key)).toBe(true);
    for (const key of ['', 'first-ke', 'FIRST-KEY', 'first-key, second-key', digestOf('first-key')])
      expect(keys.include(key)).toBe(false);
  });
});
