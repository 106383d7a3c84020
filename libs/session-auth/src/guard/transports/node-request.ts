import { Readable } from 'node:stream';

/** A request of Node, as far as it is told apart from others here. */
export interface NodeRequest extends Readable {
  /** It was handed over to a socket. Node sets it, and only where the server takes sockets: a header alone does not. */
  readonly upgrade?: boolean;
}

/**
 * Node's own request under something that was taken for a request: itself, or what Fastify's has as `raw`. No client can send one: an object
 * that was made of a message never is a stream.
 */
export function nodeRequestOf(candidate: unknown): NodeRequest | undefined {
  if (candidate instanceof Readable) return candidate;
  const raw = (candidate as { readonly raw?: unknown } | null | undefined)?.raw;
  return raw instanceof Readable ? raw : undefined;
}

/**
 * Whether it is a request that ends with its reply. One that opened a socket lives for as long as the socket, and one that an application
 * has made up for as long as it likes.
 */
export function endsWithReply(candidate: unknown): boolean {
  const request = nodeRequestOf(candidate);
  return request !== undefined && request.upgrade !== true;
}
