import type { IncomingMessage } from 'node:http';
import { AUTHENTICATION_PATH, USER_DETAILS_PATH } from '../contract/wire.js';
import type { Operation, SeenRequest } from './script.js';

/** Reads a request to its end. */
export async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', headers, rawHeaders, socket } = incoming;
  const operation = operationOf(method, path);
  return { operation, method, path, headers, rawHeaders, body: Buffer.concat(chunks).toString(), remotePort: socket.remotePort };
}

/** Below whatever base path, with whatever query; the sign-in may have a trailing slash (section 4.1). */
function operationOf(method: string, target: string): Operation | undefined {
  const path = target.replace(/[?].*$/, '');
  if (path.endsWith(USER_DETAILS_PATH)) return method === 'GET' ? 'user_details' : undefined;
  if (!path.replace(/\/$/, '').endsWith(AUTHENTICATION_PATH)) return undefined;
  if (method === 'POST') return 'sign_in';
  return method === 'DELETE' ? 'sign_out' : undefined;
}
