import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { headerCount, type HttpRequest } from './http-request.js';
import { HTTP } from './transport.js';

const request: HttpRequest = { headers: {} };
const reply = {};
const switchToHttp = (): object => ({ getRequest: () => request, getResponse: () => reply });

describe('request and reply of a context', () => {
  it.each<[string, object]>([
    ['as Nest creates it', { getArgs: () => [request, reply, () => undefined] }],
    ['with the request alone among its arguments', { getArgs: () => [request], switchToHttp }],
    ['whose arguments are not an array', { getArgs: () => ({ length: 2 }), switchToHttp }],
    ['that a test has built', { switchToHttp }],
  ])('are found in a context %s', (_name, context) => {
    const call = HTTP.open(context as ExecutionContext);
    expect(call.request).toBe(request);
    expect(call.reply).toBe(reply);
  });
});

describe('the count of a header', () => {
  it.each<[Partial<HttpRequest>, number]>([
    [{ rawHeaders: ['Authorization', 'a', 'Cookie', 'authorization', 'AUTHORIZATION', 'b'] }, 2],
    [{ raw: { rawHeaders: ['authorization', 'a'] } }, 1],
    [{ rawHeaders: ['authorizatiom', 'a'] }, 0],
    [{}, 1],
  ])('in %j is %i', (lines, count) => {
    expect(headerCount({ ...request, ...lines }, 'authorization')).toBe(count);
  });
});
