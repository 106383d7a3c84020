import { type IncomingMessage } from 'node:http';
import { BadRequestException } from '@nestjs/common';
import { isDeeperThan } from './json-depth.js';

const JSON_MEDIA_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
/** Maximum nesting of objects and arrays; a sign-in needs one level. */
const MAX_DEPTH = 32;

/**
 * Reads a request's body as JSON.
 *
 * @param maxBytes - a longer body is refused and not buffered
 * @throws BadRequestException if the media type or the body is not JSON, or the body is compressed, too long,
 * nested deeper than 32 levels, or incomplete
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
  // Destroying the request would close the connection before the response is sent; Node.js discards the
  // unread rest.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new RangeError('The body is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
