import { describe, expect, it } from '@jest/globals';
import { digestOf } from '../secrets/secret-digest.js';
import { ApplicationKeys } from './application-keys.js';

describe('ApplicationKeys', () => {
  const keys = new ApplicationKeys([digestOf('first-key'), digestOf('second-key')]);

  it.each(['first-key', 'second-key'])('include %s', (key) => {
    expect(keys.include(key)).toBe(true);
  });

  it.each(['', 'first-ke', 'first-key ', 'FIRST-KEY', 'first-key, second-key', digestOf('first-key')])(
    'do not include "%s"',
    (key) => {
      expect(keys.include(key)).toBe(false);
    },
  );

  it('include nothing when there are none', () => {
    expect(new ApplicationKeys([]).include('')).toBe(false);
  });
});
