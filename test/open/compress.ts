import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBrotliCompress, type BrotliCompress } from 'node:zlib';

type Writing = (...parameters: unknown[]) => unknown;
type Replaced = 'writeHead' | 'write' | 'end' | 'on';
type Compressed = Omit<ServerResponse, Replaced> & Record<Replaced, Writing>;

/**
 * A middleware that compresses as the package `compression` does: by functions of its own in place of those
 * of the response, and from the head on. It keeps what it compresses until it has enough.
 */
export function compress(_request: IncomingMessage, reply: ServerResponse, next: () => void): void {
  const response = reply as unknown as Compressed;
  const { writeHead, write, end, on } = response;
  const waiting: unknown[][] = [];
  let stream: BrotliCompress | undefined;
  let isDecided = false;

  const decide = (): void => {
    if (isDecided) return;
    isDecided = true;
    const keeps = String(response.getHeader('cache-control')).includes('no-transform');
    if (keeps || response.hasHeader('content-length')) {
      for (const parameters of waiting) on.apply(response, parameters);
      return;
    }
    const brotli = createBrotliCompress();
    stream = brotli.setMaxListeners(0);
    response.setHeader('content-encoding', 'br');
    response.removeHeader('content-length');
    for (const [event, listener] of waiting) brotli.on(event as string, listener as Writing);
    brotli.on('data', (part) => {
      if (write.call(response, part) === false) brotli.pause();
    });
    on.call(response, 'drain', () => brotli.resume());
    brotli.on('end', () => end.call(response));
  };
  const begin = (): void => {
    if (!response.headersSent) response.writeHead(response.statusCode);
  };
  Object.assign(response, {
    writeHead: (...[status, ...more]: unknown[]) => {
      const headers = more.find((each) => typeof each === 'object') ?? {};
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value as string);
      decide();
      return writeHead.call(response, status);
    },
    write: (...parameters: unknown[]) => {
      begin();
      return stream ? stream.write(parameters[0]) : write.apply(response, parameters);
    },
    end: (...parameters: unknown[]) => {
      if (!response.headersSent && typeof parameters[0] === 'string')
        response.setHeader('content-length', Buffer.byteLength(parameters[0]));
      begin();
      return stream ? stream.end(parameters[0]) : end.apply(response, parameters);
    },
    on: (...parameters: unknown[]) => {
      if (parameters[0] !== 'drain') return on.apply(response, parameters);
      if (stream) stream.on('drain', parameters[1] as Writing);
      else if (isDecided) on.apply(response, parameters);
      else waiting.push(parameters);
      return response;
    },
  });
  next();
}
