import { describe, expect, it, jest } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import { EventEmitter } from 'node:events';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { endCall, grpcCallOf, type GrpcCall, grpcErrorOf, type ServerCall } from './grpc-call.js';

it('the gRPC error of a denial has the canonical code of its status', () => {
  const codeOf = (statusCode: number): unknown => {
    const { code, ...texts } = grpcErrorOf({ statusCode, code: 'CODE', message: 'text' }) as { code: number };
    expect(texts).toEqual({ message: 'text', details: 'CODE: text' });
    return code;
  };
  expect([400, 401, 403, 404, 429, 499, 503, 418].map(codeOf)).toEqual([3, 16, 7, 5, 8, 1, 14, 2]);
});

const metadata = new Metadata();
const serverCall = (members: Partial<ServerCall> = {}): ServerCall & EventEmitter =>
  Object.assign(new EventEmitter(), members);
const found = (...args: unknown[]): GrpcCall | undefined => grpcCallOf(new ExecutionContextHost(args));

describe('a call of gRPC', () => {
  const call = serverCall({ metadata });
  const answer = (): void => undefined;

  const unpassed = { metadata, call: undefined, isPassed: false };

  it.each<[string, unknown[], GrpcCall]>([
    ['request, metadata and call', [{}, metadata, call], { ...unpassed, call }],
    ['request and metadata', [{}, metadata], unpassed],
    ['request, metadata and another object', [{}, metadata, { emit: 'text' }], unpassed],
    ['the call', [call], { metadata, call, isPassed: true, answer: undefined }],
    ['the call and a callback', [call, answer], { metadata, call, isPassed: true, answer }],
  ])('is found in %s', (_kind, args, expected) => {
    expect(found(...args)).toEqual(expected);
  });

  it.each<[string, unknown[]]>([
    ['no arguments', []],
    ['null', [null, null, null]],
    ['functions', [Object.assign(() => undefined, { emit: () => undefined, metadata })]],
    [
      'a payload that names the members of a call',
      [
        { emit: 1, metadata: { getMap: {} } },
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

  it.each<[string, Partial<ServerCall>, boolean]>([
    ['Nest passes it to its handler', {}, true],
    ['its requests have ended', { readableEnded: true }, false],
  ])('is an error of the call, if %s', (_case, members, isPassed) => {
    const call = serverCall(members);
    const errors = errorsOf(call);
    expect([endCall({ metadata, call, isPassed }, ERROR), errors]).toEqual([true, [ERROR]]);
  });

  it('is the answer of a passed call that has a callback', () => {
    const call = serverCall();
    const [errors, answer] = [errorsOf(call), jest.fn()];
    const ended = endCall({ metadata, call, isPassed: true, answer }, ERROR);
    expect([ended, answer.mock.calls, errors]).toEqual([true, [[ERROR]], []]);
  });

  it('is left to Nest for a call whose requests have not ended, and for an unknown one', () => {
    const call = serverCall({ readableEnded: false });
    const errors = errorsOf(call);
    expect([endCall({ metadata, call, isPassed: false }, ERROR), errors]).toEqual([false, []]);
    expect(endCall({ metadata, call: undefined, isPassed: true }, ERROR)).toBe(false);
  });

  it('does not fail if a listener of the call throws', () => {
    const call = serverCall().on('error', () => {
      throw new Error('fault');
    });
    expect(endCall({ metadata, call, isPassed: true }, ERROR)).toBe(true);
  });
});
