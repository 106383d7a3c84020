import { describe, expect, it } from '@jest/globals';
import { networkOf } from './client-network.js';

describe('the network of a client', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:49152', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['64:ff9b::203.0.113.7', '203.0.113.7'],
  ])('of %s is its IPv4 address %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::5]:8080', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::5]', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['64:ff9b:1::203.0.113.7', '64:ff9b:1:0::/64'],
  ])('of %s is the first 64 bits %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    '',
    'unknown',
    'worker-7',
    '203.0.113',
    '203.0.113.007',
    '1.2.3.4, 5.6.7.8',
    '[1.2.3',
    ':::',
    '1:2:3:4:5:6:7:8:9',
    '203.0.113.7\n',
    'x[2001:db8::1]',
    '[2001:db8::1]x',
    '[2001:db8::1]:',
    '2001:db8::1%eth0\nx',
  ])('of %j, which is no address, is undefined', (text) => {
    expect(networkOf(text)).toBeUndefined();
  });
});
