import type { IncomingMessage } from 'node:http';

/** Longest accepted body of a request, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;

/** A request to the development service. */
export interface DevRequest {
  readonly method: string;
  /** Path without query and without a trailing slash. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly isJson: boolean;
  /** The body, if it is a JSON object of limited length. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** An answer of the development service. The body is empty without `json`. */
export interface DevReply {
  readonly status: number;
  readonly json?: object | undefined;
}

/** Reads a request with its body. Rejects if the request is aborted. */
export async function readDevRequest(incoming: IncomingMessage): Promise<DevRequest> {
  const { method = '', url = '', headers } = incoming;
  const path = url.replace(/[?].*$/s, '').replace(/(?<=.)\/$/, '');
  return {
    method,
    path,
    headers,
    isJson: /^application\/json *(;|$)/i.test(headers['content-type'] ?? ''),
    body: await readObject(incoming),
  };
}

async function readObject(incoming: IncomingMessage): Promise<DevRequest['body']> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  try {
    const value: unknown = length <= MAX_BODY_BYTES ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as DevRequest['body']) : undefined;
  } catch {
    return undefined;
  }
}
