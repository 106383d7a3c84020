import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { headerCount, type HttpRequest } from './http-request.js';
import { receivedHeaders } from './handshake-request.js';
import { HTTP } from './transport.js';

const request: HttpRequest = { headers: {} };
const reply = {};
const switchToHttp = (): object => ({ getRequest: () => request, getResponse: () => reply });

describe('request and reply of a context', () => {
  it.each<[string, object]>([
    ['as Nest creates it', { getArgs: () => [request, reply, () => undefined], switchToHttp }],
    ['with two arguments', { getArgs: () => [request, reply] }],
    ['with the request alone among its arguments', { getArgs: () => [request], switchToHttp }],
    ['whose arguments are not an array', { getArgs: () => ({ length: 2 }), switchToHttp }],
    ['that a test has built', { switchToHttp }],
  ])('are found in a context %s', (_name, context) => {
    const call = HTTP.open(context as ExecutionContext);
    expect(call.request).toBe(request);
    expect(call.reply).toBe(reply);
  });
});

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

describe('the count of a header', () => {
  it.each<[Partial<HttpRequest>, number]>([
    [{ rawHeaders: ['Authorization', 'a', 'Cookie', 'authorization', 'AUTHORIZATION', 'b'] }, 2],
    [{ raw: { rawHeaders: ['authorization', 'a'] } }, 1],
    [{ rawHeaders: ['authorizatiom', 'a'] }, 0],
    [{ raw: {} }, 1],
    [{}, 1],
  ])('in %j is %i', (lines, count) => {
    expect(headerCount({ ...request, ...lines }, 'authorization')).toBe(count);
  });
});
