import { type IncomingMessage } from 'node:http';
import { BadRequestException } from '@nestjs/common';
import { isDeeperThan } from './json-depth.js';

const JSON_MEDIA_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
/** Objects and arrays inside each other; a sign-in needs one. */
const MAX_DEPTH = 32;

/**
 * Reads a request's body as JSON.
 *
 * @param maxBytes - a longer body is refused without being kept
 * @throws BadRequestException when it is not JSON by its media type or by its bytes, encoded, too long, nested deeper than
 * 32 levels, or cut off
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const { 'content-type': mediaType = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!JSON_MEDIA_TYPE.test(mediaType) || encoding !== 'identity') throw new BadRequestException();
  try {
    return parse(await readBytes(request, maxBytes));
  } catch {
    throw new BadRequestException();
  }
}

function parse(bytes: Buffer): unknown {
  const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (isDeeperThan(MAX_DEPTH, json)) throw new RangeError('The body is nested too deeply.');
  return json;
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Destroying the request would close the connection before the answer is out; Node discards what is left unread.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new RangeError('The body is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
