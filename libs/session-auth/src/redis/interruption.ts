import { NoAnswer } from './bounded.js';

/** The subscription is made, and messages don't arrive. */
export class Deaf extends Error {}

/** There is no node to subscribe to. */
export class NoNode extends Error {}

const NOT_ALLOWED = 'Redis refuses the subscription: its user lacks the right to the channels or to SUBSCRIBE';
const REFUSED = 'Redis refuses the user name or the password';

/** How the replies of a server begin. The rest of them may name the user. */
const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/^NOPERM/, NOT_ALLOWED],
  [/^(?:WRONGPASS|NOAUTH|ERR invalid password|ERR AUTH)/, REFUSED],
  [/^All sentinels are unreachable/, 'No Sentinel can be reached that knows the master'],
];

/** Codes of Node.js, such as ECONNREFUSED. */
const CODE = /^[A-Z][A-Z\d_]{2,49}$/;

/** Returns one sentence that tells why no message arrives. It has nothing of what a server said. */
export function reasonOf(error: unknown): string {
  if (error instanceof NoNode) return 'The Redis Cluster is not connected';
  if (error instanceof NoAnswer) return 'Redis does not answer';
  if (error instanceof Deaf) return 'Redis does not deliver what is published: the node may have left the cluster';
  const { message = '', code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const [, reason] = REPLIES.find(([beginning]) => beginning.test(message)) ?? [];
  if (reason !== undefined) return reason;
  return code !== undefined && CODE.test(code) ? `The connection to Redis failed (${code})` : 'The connection to Redis was closed';
}
