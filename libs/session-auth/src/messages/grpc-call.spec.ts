import { describe, expect, it, jest } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import { EventEmitter } from 'node:events';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { endCall, grpcCallOf, type GrpcCall, grpcErrorOf, type ServerCall } from './grpc-call.js';

describe('the gRPC error of a denial', () => {
  it.each([
    [400, 3],
    [401, 16],
    [403, 7],
    [404, 5],
    [429, 8],
    [499, 1],
    [503, 14],
    [418, 2],
  ])('of %i has the canonical code %i', (statusCode, code) => {
    expect(grpcErrorOf({ statusCode, code: 'CODE', message: 'message' })).toEqual({
      code,
      message: 'message',
      details: 'CODE: message',
    });
  });
});

const metadata = new Metadata();
const serverCall = (members: Partial<ServerCall> = {}): ServerCall & EventEmitter =>
  Object.assign(new EventEmitter(), members);
const found = (...args: unknown[]): GrpcCall | undefined => grpcCallOf(new ExecutionContextHost(args));

describe('a call of gRPC', () => {
  const call = serverCall({ metadata });
  const answer = (): void => undefined;

  it.each<[string, unknown[], GrpcCall]>([
    ['request, metadata and call', [{}, metadata, call], { metadata, call, isPassed: false }],
    ['request and metadata', [{}, metadata], { metadata, call: undefined, isPassed: false }],
    [
      'request, metadata and another object',
      [{}, metadata, { emit: 'text' }],
      { metadata, call: undefined, isPassed: false },
    ],
    ['the call', [call], { metadata, call, isPassed: true, answer: undefined }],
    ['the call and a callback', [call, answer], { metadata, call, isPassed: true, answer }],
  ])('is found in %s', (_kind, args, expected) => {
    expect(found(...args)).toEqual(expected);
  });

  it.each<[string, unknown[]]>([
    ['no arguments', []],
    ['primitive values', ['text', 7]],
    ['null', [null, null, null]],
    ['functions', [Object.assign(() => undefined, { emit: () => undefined, metadata })]],
    [
      'a payload that names the members of a call',
      [
        { emit: 'text', metadata: { getMap: {}, get: {} } },
        { getMap: {}, get: {} },
      ],
    ],
    ['an object that emits, and has no metadata', [serverCall()]],
    ['an object that emits, and whose metadata has no getMap()', [serverCall({ metadata: { get: answer } })]],
    ['an object that emits, and whose metadata has no get()', [serverCall({ metadata: { getMap: answer } })]],
    ['an object with metadata that does not emit', [{ metadata }]],
    ['a message with the context of another transport', [call, { getPattern: () => 'pattern' }]],
  ])('is not found in %s', (_kind, args) => {
    expect(found(...args)).toBeUndefined();
  });
});

describe('the end of a denied call', () => {
  const ERROR = { code: 16 };
  const errorsOf = (call: ServerCall & EventEmitter): unknown[] => {
    const errors: unknown[] = [];
    call.on('error', (error: unknown) => errors.push(error));
    return errors;
  };

  it('is an error of the call, if Nest passes it to its handler', () => {
    const call = serverCall();
    const errors = errorsOf(call);
    expect([endCall({ metadata, call, isPassed: true }, ERROR), errors]).toEqual([true, [ERROR]]);
  });

  it('is the answer of a passed call that has a callback', () => {
    const call = serverCall();
    const [errors, answer] = [errorsOf(call), jest.fn()];
    expect([endCall({ metadata, call, isPassed: true, answer }, ERROR), answer.mock.calls, errors]).toEqual([
      true,
      [[ERROR]],
      [],
    ]);
  });

  it('is an error of the call, if its requests have ended', () => {
    const call = serverCall({ readableEnded: true });
    const errors = errorsOf(call);
    expect([endCall({ metadata, call, isPassed: false }, ERROR), errors]).toEqual([true, [ERROR]]);
  });

  it.each<[string, (ServerCall & EventEmitter) | undefined]>([
    ['whose requests have not ended', serverCall({ readableEnded: false })],
    ['that is unknown', undefined],
  ])('is left to Nest for a call %s', (_kind, call) => {
    const errors = call ? errorsOf(call) : [];
    expect([endCall({ metadata, call, isPassed: false }, ERROR), errors]).toEqual([false, []]);
  });

  it('is left to Nest if no call was passed', () => {
    expect(endCall({ metadata, call: undefined, isPassed: true }, ERROR)).toBe(false);
  });

  it('does not fail if a listener of the call throws', () => {
    const call = serverCall().on('error', () => {
      throw new Error('fault');
    });
    expect(endCall({ metadata, call, isPassed: true }, ERROR)).toBe(true);
  });
});
