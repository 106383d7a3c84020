import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import { EventEmitter } from 'node:events';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { KafkaContext, RpcException, TcpContext } from '@nestjs/microservices';
import { lastValueFrom, type Observable, Subject } from 'rxjs';
import { ACCESS_DENIED, SESSION_REJECTED } from '../contract/denials.js';
import { unavailable } from '../contract/outcome.js';
import { AccessDeniedError } from '../exceptions/session-exceptions.js';
import { type GuardDenial, denialOfVerdict } from '../guard/denial.js';
import { messageDenialOf } from '../kinds/client-denial.js';
import { enhancersOf } from '../guard/enhancers.js';
import { Challenge } from '../guard/challenge.js';
import { completeDeniedEvents } from './denied-events.js';
import { remoteExceptions, RPC } from './message-transport.js';

class Handlers {
  readonly find = (): void => undefined;
}
completeDeniedEvents(Handlers);

const messageOf = (...args: unknown[]): ExecutionContextHost =>
  new ExecutionContextHost(args, Handlers, new Handlers().find);
const deny = (context: ExecutionContextHost, denial: GuardDenial): Promise<never> =>
  RPC.deny(RPC.open(context), denial, new Challenge([]));

const metadata = new Metadata();
metadata.set('x-auth-token', 'good');
const grpcCall = <Members extends object>(members?: Members) =>
  Object.assign(new EventEmitter(), { metadata }, members);
const unary = (members: object = {}): ExecutionContextHost => messageOf({}, metadata, grpcCall(members));

const tcp = (): TcpContext => new TcpContext([{} as never, 'pattern']);
const kafkaEvent = (): KafkaContext =>
  new KafkaContext([{ headers: { 'x-auth-token': 'good' } }, 0, 'topic', {}] as never);

describe('the request of a message', () => {
  const callback = (): void => undefined;

  it.each<[string, unknown[], string | undefined]>([
    ['a broker', ['text', kafkaEvent()], 'good'],
    ['a unary gRPC call', [{}, metadata.clone(), grpcCall()], 'good'],
    ['a gRPC call that is passed to its handler', [grpcCall()], 'good'],
    ['such a call with a callback', [grpcCall(), callback], 'good'],
    ['a transporter without contexts', ['text'], undefined],
    ['a transporter without anything', [], undefined],
    ['a transporter with more arguments', ['text', kafkaEvent(), 'a', 'b'], 'good'],
  ])(
    'of %s belongs to one call of a handler, and to no other one with the same objects',
    (_kind, objects, token) => {
      const [guards, other] = [messageOf(...objects), messageOf(...objects)];
      expect(RPC.requestOf(guards)).toBeUndefined();

      const { request, transport, context } = RPC.open(guards);
      expect([request.headers['x-auth-token'], transport]).toEqual([token, RPC]);
      const [interceptors, parameters] = [
        new ExecutionContextHost(guards.getArgs()),
        messageOf(...guards.getArgs<unknown[]>()),
      ];
      for (const each of [interceptors, parameters]) {
        expect(RPC.requestOf(each)).toBe(request);
        expect(RPC.open(each).request).toBe(request);
      }
      expect(guards.getArgs<unknown[]>().slice(0, objects.length)).toEqual(objects);
      expect(RPC.parameters(context)).toBe(objects[0]);

      expect(RPC.requestOf(other)).toBeUndefined();
      expect(RPC.open(other).request).not.toBe(request);
    },
  );

  it('is not among the arguments that Nest passes to a handler, nor in what an application prints of them', () => {
    const context = messageOf('text');
    RPC.open(context);
    expect(JSON.stringify(context.getArgs())).toBe('["text",null,null,{}]');
  });

  it('is not read from a stream before the call is admitted', () => {
    const call = grpcCall({ pause: jest.fn(), resume: jest.fn() });
    RPC.open(messageOf(new Subject(), metadata, call));
    expect(call.pause).toHaveBeenCalledTimes(1);
  });
});

describe('an admitted call', () => {
  beforeAll(() => remoteExceptions.load());
  const admit = (context: ExecutionContextHost) => () => RPC.admitted?.(RPC.open(context));

  it('is denied after all if it was cancelled during the check', () => {
    const status = { code: 1, details: 'CANCELLED: The call was cancelled' };
    const error: unknown = expect.objectContaining(status);
    expect(admit(unary({ cancelled: true }))).toThrow(expect.objectContaining({ error }));
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

const { message } = ACCESS_DENIED;
const STATUS = { code: 7, message, details: `ACCESS_DENIED: ${message}` };

describe('a denied message', () => {
  const [filter] = enhancersOf(Handlers, 'filter') as [object];
  const [Dropped] = Reflect.getMetadata('__filterCatchExceptions__', filter.constructor) as [typeof Error];
  const OUTAGE = denialOfVerdict(unavailable('busy', 7));

  it.each<[string, () => unknown, GuardDenial, boolean]>([
    ['an event of Kafka', kafkaEvent, SESSION_REJECTED, true],
    ['an event of Kafka during an outage, which is delivered again', kafkaEvent, OUTAGE, false],
    ['a message of another transport', tcp, SESSION_REJECTED, false],
  ])(
    'is rejected with an RpcException, and dropped if Kafka would deliver it for ever: %s',
    async (_kind, second, denial, isDropped) => {
      const exception = await deny(messageOf({}, second()), denial).catch((error: unknown) => error);
      expect(exception).toBeInstanceOf(RpcException);
      expect(exception).toMatchObject({ error: messageDenialOf(denial) });
      expect(exception instanceof Dropped).toBe(isDropped);
    },
  );

  it('is rejected with the status of gRPC', async () => {
    const rejection = deny(unary(), ACCESS_DENIED);
    await expect(rejection).rejects.toBeInstanceOf(RpcException);
    await expect(rejection).rejects.toMatchObject({ error: STATUS });
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
  const answered = (context: ExecutionContextHost): Promise<unknown> =>
    lastValueFrom(RPC.answer?.(context, error) as Observable<unknown>);

  it('is sent to a caller of gRPC as a status', async () => {
    await expect(answered(unary({ readableEnded: true }))).rejects.toEqual(STATUS);
  });

  it('ends a call that was passed to the handler', async () => {
    const answer = jest.fn();
    await expect(answered(messageOf(grpcCall(), answer))).resolves.toBeUndefined();
    expect(answer.mock.calls).toEqual([[STATUS]]);
  });
});
