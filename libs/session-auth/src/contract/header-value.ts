const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * Whether a token, an IV or a key can go on the wire exactly as it is: 1 to `maxLength` bytes of visible ASCII (our decision).
 * Anything else would be trimmed, re-encoded or split by some part of the way.
 */
export function isHeaderValue(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && VISIBLE_ASCII.test(value);
}
