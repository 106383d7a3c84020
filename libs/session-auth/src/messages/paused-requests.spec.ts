import { describe, expect, it, jest } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { Subject } from 'rxjs';
import type { GrpcCall, ServerCall } from './grpc-call.js';
import { pauseRequests } from './paused-requests.js';

const metadata = new Metadata();
const immediate = (): Promise<void> => new Promise(setImmediate);
const grpcCall = (call: ServerCall | undefined): GrpcCall => ({ metadata, call, isPassed: false });

/** A call that streams its requests, and the arguments of its handler. */
function streamingCall() {
  const call = { emit: jest.fn(), pause: jest.fn(), resume: jest.fn() };
  const requests = Object.assign(new Subject<string>(), {
    drainBuffer: jest.fn() as jest.Mock | undefined,
    kind: 'requests',
  });
  const args: unknown[] = [requests, metadata, call];
  pauseRequests(new ExecutionContextHost(args), grpcCall(call));
  return { call, requests, args, passed: args[0] as typeof requests };
}

describe('a call that streams its requests', () => {
  it('is paused once, until its handler runs', async () => {
    const { call, args, passed } = streamingCall();
    pauseRequests(new ExecutionContextHost(args), grpcCall(call));
    await immediate();
    await immediate();
    await immediate();
    expect([call.pause.mock.calls.length, call.resume.mock.calls.length, args[0]]).toEqual([1, 0, passed]);
  });

  it('is resumed after its handler has subscribed, and Nest has passed on what it buffered', async () => {
    const { call, requests, passed } = streamingCall();
    const received: string[] = [];
    const subscription = passed.subscribe((request) => received.push(request));
    requests.next('one');
    expect(received).toEqual(['one']);

    await immediate();
    expect(call.resume).not.toHaveBeenCalled();
    await immediate();
    expect(call.resume).toHaveBeenCalledTimes(1);
    subscription.unsubscribe();
    requests.next('two');
    expect(received).toEqual(['one']);
  });

  it('is resumed after Nest has drained its buffer, and keeps its other members', async () => {
    const { call, requests, passed } = streamingCall();
    passed.drainBuffer?.();
    expect([requests.drainBuffer?.mock.calls.length, call.resume.mock.calls.length]).toEqual([1, 0]);
    expect(passed.kind).toBe('requests');
    await immediate();
    await immediate();
    expect(call.resume).toHaveBeenCalledTimes(1);
    // Not every version of Nest has a buffer.
    requests.drainBuffer = undefined;
    passed.drainBuffer?.();
  });

  const pause = jest.fn();
  it.each<[string, unknown, ServerCall | undefined]>([
    ['requests that are no stream', { id: 7 }, { emit: jest.fn(), pause, resume: jest.fn() }],
    ['a call that cannot pause', new Subject(), { emit: jest.fn(), resume: jest.fn() }],
    ['a call that cannot resume', new Subject(), { emit: jest.fn(), pause }],
    ['an unknown call', new Subject(), undefined],
  ])('is left as it is with %s', (_kind, requests, call) => {
    const args = [requests, metadata, call];
    pauseRequests(new ExecutionContextHost(args), grpcCall(call));
    expect(args[0]).toBe(requests);
    expect(pause).not.toHaveBeenCalled();
  });
});
