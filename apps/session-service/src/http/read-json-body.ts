import { type IncomingMessage } from 'node:http';
import { BadRequestException } from '@nestjs/common';

const JSON_MEDIA_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a request's body as JSON.
 *
 * @param maxBytes - a longer body is refused without being kept
 * @throws BadRequestException when it is not JSON by its media type or by its bytes, encoded, too long, or cut off
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const { 'content-type': mediaType = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!JSON_MEDIA_TYPE.test(mediaType) || encoding !== 'identity') throw new BadRequestException();
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readBytes(request, maxBytes)));
  } catch {
    throw new BadRequestException();
  }
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
