import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import { EventEmitter } from 'node:events';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { KafkaContext, RpcException, TcpContext } from '@nestjs/microservices';
import { lastValueFrom, type Observable, Subject } from 'rxjs';
import { ACCESS_DENIED, SESSION_REJECTED } from '../../contract/denials.js';
import { unavailable } from '../../contract/outcome.js';
import { AccessDeniedError } from '../../exceptions/session-exceptions.js';
import { type GuardDenial, payloadOf, unavailableDenial } from '../denial.js';
import { enhancersOf } from '../enhancers.js';
import { Challenges } from '../http/challenges.js';
import { remoteExceptions } from '../optional-packages.js';
import { completeDeniedEvents } from './denied-events.js';
import { RPC } from './message-transport.js';

class Handlers {
  readonly find = (): void => undefined;
}
completeDeniedEvents(Handlers);

const messageOf = (...args: unknown[]): ExecutionContextHost => new ExecutionContextHost(args, Handlers, new Handlers().find);
const deny = (context: ExecutionContextHost, denial: GuardDenial): Promise<never> =>
  RPC.deny(RPC.open(context), denial, new Challenges([]));

const metadata = new Metadata();
metadata.set('x-auth-token', 'good');
const grpcCall = <Members extends object>(members?: Members) => Object.assign(new EventEmitter(), { metadata }, members);
const unary = (members: object = {}): ExecutionContextHost => messageOf({}, metadata, grpcCall(members));

const tcp = (): TcpContext => new TcpContext([{} as never, 'pattern']);
const kafkaEvent = (): KafkaContext => new KafkaContext([{ headers: { 'x-auth-token': 'good' } }, 0, 'topic', {}] as never);

const PAYLOAD = { id: 7 };

describe('the request of a message', () => {
  it.each<[string, () => unknown[]]>([
    ['the context of its message', () => ['text', kafkaEvent()]],
    ['the context of its message, and not to a payload that others have', () => [PAYLOAD, kafkaEvent()]],
    ['the metadata of its call', () => [{}, metadata.clone(), grpcCall()]],
    ['its call', () => [grpcCall()]],
    ['its call, which has a callback', () => [grpcCall(), callback]],
    ['its call, next to null', () => [grpcCall(), null]],
  ])('belongs to %s', (_object, argsOf) => {
    const args = argsOf();
    expect(RPC.requestOf(messageOf(...args))).toBeUndefined();

    const { request, transport, context } = RPC.open(messageOf(...args));
    expect([request.headers['x-auth-token'], transport]).toEqual(['good', RPC]);
    expect(RPC.open(messageOf(...args)).request).toBe(request);
    expect(RPC.requestOf(messageOf(...args))).toBe(request);
    expect(RPC.parameters(context)).toBe(args[0]);
    expect(RPC.open(messageOf(...argsOf())).request).not.toBe(request);
  });
  const callback = (): void => undefined;

  it.each<[unknown, unknown]>([
    ['text', undefined],
    ['text', 'text'],
    [null, null],
    [undefined, undefined],
  ])('belongs to the context of Nest if nothing else is an object: %j, %j', (payload, second) => {
    const [one, other] = [messageOf(payload, second), messageOf(payload, second)];
    const { request } = RPC.open(one);
    expect(request.headers).toEqual({});
    expect(RPC.open(one).request).toBe(request);
    expect(RPC.requestOf(other)).toBeUndefined();
    expect(RPC.open(other).request).not.toBe(request);
  });

  it('is not read from a stream before the call is admitted', () => {
    const call = grpcCall({ pause: jest.fn(), resume: jest.fn() });
    const context = messageOf(new Subject(), metadata, call);
    RPC.open(context);
    expect(call.pause).toHaveBeenCalledTimes(1);
  });
});

describe('an admitted call', () => {
  beforeAll(() => remoteExceptions.load());
  const admit = (context: ExecutionContextHost) => () => RPC.admitted?.(RPC.open(context));

  it('is denied after all if it was cancelled during the check', () => {
    const status = { code: 1, message: 'The call was cancelled', details: 'CANCELLED: The call was cancelled' };
    expect(admit(unary({ cancelled: true }))).toThrow(expect.objectContaining({ error: status }));
    expect(admit(unary({ cancelled: true }))).toThrow(RpcException);
  });

  it.each<[string, () => ExecutionContextHost]>([
    ['it was not cancelled', () => unary({ cancelled: false })],
    ['it is passed to its handler, which notices it', () => messageOf(grpcCall({ cancelled: true }))],
    ['its call is unknown', () => messageOf({}, metadata)],
    ['it is no call of gRPC', () => messageOf({ cancelled: true }, tcp())],
  ])('stays admitted if %s', (_case, contextOf) => {
    expect(admit(contextOf())).not.toThrow();
  });
});

describe('a denied message', () => {
  const [filter] = enhancersOf(Handlers, 'filter') as [object];
  const [Dropped] = Reflect.getMetadata('__filterCatchExceptions__', filter.constructor) as [typeof Error];
  const OUTAGE = unavailableDenial(unavailable('busy', 7));

  it.each<[string, () => unknown, GuardDenial, boolean]>([
    ['an event of Kafka', kafkaEvent, SESSION_REJECTED, true],
    ['an event of Kafka during an outage, which is delivered again', kafkaEvent, OUTAGE, false],
    ['a message of another transport', tcp, SESSION_REJECTED, false],
    ['a message of another transport during an outage', tcp, OUTAGE, false],
  ])('is rejected with an RpcException, and dropped if Kafka would deliver it for ever: %s', async (_kind, second, denial, isDropped) => {
    const exception = await deny(messageOf({}, second()), denial).catch((error: unknown) => error);
    expect(exception).toBeInstanceOf(RpcException);
    expect(exception).toMatchObject({ error: payloadOf(denial) });
    expect(exception instanceof Dropped).toBe(isDropped);
  });

  it('is rejected with the status of gRPC', async () => {
    const details = `ACCESS_DENIED: ${ACCESS_DENIED.message}`;
    const rejection = deny(unary(), ACCESS_DENIED);
    await expect(rejection).rejects.toBeInstanceOf(RpcException);
    await expect(rejection).rejects.toMatchObject({ error: { code: 7, message: ACCESS_DENIED.message, details } });
  });

  it('ends a call that is passed to its handler, and never runs the handler', async () => {
    const answer = jest.fn();
    const settled = jest.fn();
    deny(messageOf(grpcCall(), answer), SESSION_REJECTED).then(settled, settled);
    expect(answer.mock.calls).toEqual([[expect.objectContaining({ code: 16 })]]);
    await new Promise(setImmediate);
    expect(settled).not.toHaveBeenCalled();
  });
});

describe('an error that the handler of a message does not catch', () => {
  const error = new AccessDeniedError();
  const STATUS = { code: 7, message: error.message, details: `ACCESS_DENIED: ${error.message}` };
  const answered = (context: ExecutionContextHost): Promise<unknown> => lastValueFrom(RPC.answer?.(context, error) as Observable<unknown>);

  it('is sent to the caller as a payload', async () => {
    await expect(answered(messageOf({}, tcp()))).rejects.toMatchObject({ status: 'error', statusCode: 403, code: 'ACCESS_DENIED' });
  });

  it('is sent to a caller of gRPC as a status', async () => {
    await expect(answered(unary({ readableEnded: true }))).rejects.toEqual(STATUS);
  });

  it('ends a call that was passed to the handler', async () => {
    const answer = jest.fn();
    await expect(answered(messageOf(grpcCall(), answer))).resolves.toBeUndefined();
    expect(answer.mock.calls).toEqual([[STATUS]]);
  });
});
