import { describe, expect, it } from '@jest/globals';
import { grpcErrorOf } from './grpc-call.js';

describe('the gRPC error of a denial', () => {
  it.each([
    [400, 3],
    [401, 16],
    [403, 7],
    [429, 8],
    [499, 1],
    [503, 14],
    [418, 2],
  ])('of %i has the canonical code %i', (statusCode, code) => {
    expect(grpcErrorOf({ statusCode, code: 'CODE', message: 'message' })).toEqual({ code, message: 'message', details: 'CODE: message' });
  });
});
