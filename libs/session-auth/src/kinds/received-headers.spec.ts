import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { receivedHeaders } from './handshake-request.js';

describe('the headers that the server received', () => {
  const LINES = [
    ...[
      'Host',
      'a.example',
      'HOST',
      'b.example',
      'Cookie',
      'a=1',
      'cookie',
      'b=2',
      'Accept',
      'x',
      'accept',
      'y',
    ],
    ...[
      'Authorization',
      'Bearer a',
      'authorization',
      'Bearer b',
      'X-Empty',
      '',
      'Origin',
      'https://a.example',
      'Origin',
      'null',
    ],
  ];

  it('are those of Node.js, whatever was written to them since [P24]', () => {
    const request = new IncomingMessage(new Socket());
    request.rawHeaders = LINES;
    // As the parser of Node.js adds them.
    const parser = request as unknown as { _addHeaderLines(lines: string[], count: number): void };
    parser._addHeaderLines(LINES, LINES.length);
    expect({ ...receivedHeaders(request.rawHeaders) }).toEqual({ ...request.headers });
    Object.assign(request.headers, { host: 'evil.example', 'x-new': 'x' });
    expect(receivedHeaders(request.rawHeaders)).toMatchObject({ host: 'a.example', cookie: 'a=1; b=2' });
    expect('x-new' in receivedHeaders(request.rawHeaders)).toBe(false);
  });

  it('have no prototype that a header could change', () => {
    const headers = receivedHeaders(['__proto__', 'x', 'constructor', 'y']);
    expect([Object.getPrototypeOf(headers), Object.keys(headers)]).toEqual([
      null,
      ['__proto__', 'constructor'],
    ]);
  });
});
