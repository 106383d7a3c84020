import type { IncomingMessage } from 'node:http';
import { AUTHENTICATION_PATH, parseObject, USER_DETAILS_PATH } from '../contract/wire.js';
import type { Operation, SeenRequest } from './scripts.js';

/** Bytes of a body that are kept: a longer one is cut off, and so is no JSON. */
const MAX_BODY_BYTES = 1_048_576;

export async function readRequest(incoming: IncomingMessage, basePath: string): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    if (length < MAX_BODY_BYTES) chunks.push(chunk.subarray(0, MAX_BODY_BYTES - length));
    length += chunk.length;
  }
  const { method = '', url: path = '', headers, rawHeaders, socket } = incoming;
  const operation = operationOf(method, path, basePath);
  return {
    operation,
    method,
    path,
    headers,
    rawHeaders,
    body: Buffer.concat(chunks).toString(),
    remotePort: socket.remotePort,
  };
}

/**
 * Returns the operation of a request. Accepts any query; a trailing slash, as for a sign-in (section 4.1);
 * and an absolute URL, as sent to a proxy.
 */
function operationOf(method: string, target: string, basePath: string): Operation | undefined {
  const path = target.replace(/^https?:\/\/[^/?]*/, '').replace(/[?].*$/, '');
  if (path === `${basePath}${USER_DETAILS_PATH}`) return method === 'GET' ? 'user_details' : undefined;
  if (path.replace(/\/$/, '') !== `${basePath}${AUTHENTICATION_PATH}`) return undefined;
  if (method === 'POST') return 'sign_in';
  return method === 'DELETE' ? 'sign_out' : undefined;
}

export function jsonObjectIn({ headers, body }: SeenRequest): Readonly<Record<string, unknown>> | undefined {
  if (!/^application\/json *(;|$)/i.test(headers['content-type'] ?? '')) return undefined;
  return parseObject(body);
}

/** Returns a base path with a leading slash and without a trailing one; the root is empty. */
export function normalized(basePath: string): string {
  return new URL(basePath, 'http://localhost').pathname.replace(/\/+$/, '');
}
