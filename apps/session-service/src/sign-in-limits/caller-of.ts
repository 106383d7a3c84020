import { isIPv4, isIPv6 } from 'node:net';

/**
 * Returns the caller of an attempt: an IPv4 address, or the first 64 bits of an IPv6 address, because one
 * machine usually has all addresses with that prefix.
 *
 * @param address - the remote address of the connection; undefined if it is already closed
 */
export function callerOf(address: string | undefined): string {
  const plain = address?.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '') ?? '';
  if (isIPv4(plain)) return plain;
  return isIPv6(plain) ? `${networkOf(plain)}::/64` : 'unknown';
}

function networkOf(address: string): string {
  const [before = '', after] = address.split('::');
  const head = groupsOf(before);
  const tail = after === undefined ? [] : groupsOf(after);
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => 0);
  return [...head, ...zeros, ...tail]
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':');
}

function groupsOf(part: string): number[] {
  // A trailing IPv4 address replaces the last two groups, which are not among the first four.
  const groups = part === '' ? [] : part.split(':');
  return groups.flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]));
}
