import { describe, expect, it } from '@jest/globals';
import { callerOf } from './caller-of.js';

describe('callerOf', () => {
  it.each([
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0000:0000:1::', '2001:db8:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', 'unknown'],
    ['::ffff:300.1.1.1.1', 'unknown'],
    [undefined, 'unknown'],
  ])('takes %j for %s', (address, caller) => {
    expect(callerOf(address)).toBe(caller);
  });
});
