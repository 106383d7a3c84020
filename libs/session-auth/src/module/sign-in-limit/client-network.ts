import { isIPv4, isIPv6 } from 'node:net';

/** Groups of the prefix of NAT64 (RFC 6052), which carries an IPv4 address in its last two groups. */
const NAT64 = '64:ff9b:0:0:0:0';
const IPV4_MAPPED = '0:0:0:0:0:ffff';

/**
 * Returns the network of a client's address: an IPv4 address, or the first 64 bits of an IPv6 address, because one machine usually has all
 * addresses of such a network. `undefined` for any other text. A port, which some proxies add, is ignored: each connection has another.
 */
export function networkOf(address: string): string | undefined {
  const plain = withoutPort(address).replace(/%.*/, '');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return undefined;
  const groups = groupsOf(plain);
  const prefix = groups.slice(0, 6).join(':');
  if (prefix === IPV4_MAPPED || prefix === NAT64) return ipv4Of(groups.slice(6));
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function withoutPort(address: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}

/** Returns the eight groups of an IPv6 address, in hexadecimal. The URL parser writes every form of an address in the same way. */
function groupsOf(address: string): string[] {
  const [before, after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::') as [string, string?];
  const [head, tail] = [before, after ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]];
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}

function ipv4Of(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}
