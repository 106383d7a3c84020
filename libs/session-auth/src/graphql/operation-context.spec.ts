import { describe, expect, it, jest } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  CALLER,
  type Caller,
  hasSeveralRequests,
  type OperationContext,
  separateContexts,
  withSocketContexts,
} from './operation-context.js';

const request = (): IncomingMessage => new IncomingMessage(new Socket());
const contextFunction = (option: unknown, onShared: () => void = () => undefined) =>
  separateContexts(option, onShared) as (...args: unknown[]) => Promise<object>;
const callerOf = (context: unknown): Caller | undefined => (context as OperationContext)[CALLER];

const PLACES: [string, (request: unknown) => OperationContext][] = [
  ['the request of its caller', (found) => ({ [CALLER]: { request: found, reply: {} } })],
  [
    'the socket of its caller',
    (found) => ({ [CALLER]: { request: { extra: { request: found } }, reply: {} } }),
  ],
  ['req', (found) => ({ req: found as OperationContext })],
  ['the socket in req', (found) => ({ req: { extra: { request: found } } })],
  ['reply', (found) => ({ reply: { request: found } })],
  ['extra', (found) => ({ extra: { request: found } })],
  ['request', (found) => ({ request: found })],
];
const PAIRS = PLACES.flatMap(([first, putFirst], index) =>
  PLACES.slice(index + 1).map(([second, putSecond]) => [first, second, putFirst, putSecond] as const),
).filter(([, , putFirst, putSecond]) => !Reflect.ownKeys(putFirst({})).some((key) => key in putSecond({})));

describe('a context', () => {
  it.each(PAIRS)(
    'with different requests in %s and in %s has several requests',
    (_first, _second, putFirst, putSecond) => {
      const [one, other] = [request(), request()];
      expect(hasSeveralRequests({ ...putFirst(one), ...putSecond(other) })).toBe(true);
      expect(hasSeveralRequests({ ...putFirst(one), ...putSecond(one) })).toBe(false);
      expect(hasSeveralRequests({ ...putFirst(one), ...putSecond({ raw: one }) })).toBe(false);
      expect(hasSeveralRequests({ ...putFirst(one), ...putSecond({ headers: {} }) })).toBe(false);
    },
  );

  it('with a third request behind two equal ones has several requests, and one without any has not', () => {
    const one = request() as unknown as OperationContext;
    expect(hasSeveralRequests({ req: one, reply: { request: one }, request: request() })).toBe(true);
    expect(hasSeveralRequests({ [CALLER]: { request: undefined, reply: undefined } })).toBe(false);
  });

  it('has its caller under a name that all copies of this package share', () => {
    expect(Symbol.keyFor(CALLER)).toBe('nestjs-session-auth.graphql-caller');
  });
});

describe('the context of an operation', () => {
  it.each<[string, unknown[], Caller]>([
    ['an object of both', [{ req: 'request', res: 'reply' }], { request: 'request', reply: 'reply' }],
    ['request and reply', ['request', 'reply'], { request: 'request', reply: 'reply' }],
    ['nothing', [], { request: undefined, reply: undefined }],
  ])('holds its caller, which Apollo can copy, if the server passes %s', async (_kind, args, caller) => {
    for (const option of [undefined, null, { names: ['ann'] }, () => undefined, () => ({})])
      expect(callerOf({ ...(await contextFunction(option)(...args)) })).toEqual(caller);
  });

  it('is built from the arguments of the server, as an application wants it', async () => {
    const option = (...args: unknown[]) => Promise.resolve({ args });
    expect(await contextFunction(option)('one', 'two')).toMatchObject({ args: ['one', 'two'] });
  });

  it('that is no object stays what it is', async () => {
    expect(await contextFunction(() => 'text')()).toBe('text');
  });

  it.each([
    ['an object', {}],
    ['an object without a prototype', Object.create(null) as object],
  ])('is a copy of %s, with getters as getters', async (_kind, empty) => {
    let reads = 0;
    const option = Object.defineProperty(empty, 'count', { get: () => (reads += 1), enumerable: true });

    const context = (await contextFunction(option)(request())) as { readonly count: number };

    expect([reads, context.count, context.count]).toEqual([0, 1, 2]);
    expect(Object.getPrototypeOf(context)).toBe(Object.getPrototypeOf(option));
    expect(callerOf(option)).toBeUndefined();
  });
});

class Context {
  readonly names = ['ann'];
}

describe('an object that is the context of several requests', () => {
  it.each<[string, (one: unknown) => unknown]>([
    ['a request', (one) => ({ req: one })],
    ['a request of Fastify', (one) => ({ raw: one })],
    ['a socket', (one) => ({ extra: { request: one } })],
  ])(
    'has its own caller in the copy of each, and is reported for each further one: %s',
    async (_kind, wrap) => {
      const onShared = jest.fn();
      const contextOf = contextFunction({}, onShared);
      const [one, other] = [request(), request()];
      const seen: unknown[] = [];
      for (const each of [one, one, other, one])
        seen.push([callerOf(await contextOf(wrap(each)))?.request, onShared.mock.calls.length]);
      const callers = [one, other].map(
        (each) => (wrap(each) as { readonly req?: unknown }).req ?? wrap(each),
      );
      expect(seen).toEqual([
        [callers[0], 0],
        [callers[0], 0],
        [callers[1], 1],
        [callers[0], 1],
      ]);
    },
  );

  it.each([
    ['that can be changed', new Context()],
    ['that is frozen', Object.freeze(new Context())],
  ])(
    'and of a class %s has the caller of its first request, and none from the second on',
    async (_kind, option) => {
      const contextOf = contextFunction(option);
      const one = request();

      const context = (await contextOf({ req: one })) as Context & OperationContext;
      expect([context instanceof Context, context.names]).toEqual([true, ['ann']]);
      expect([context === option, hasSeveralRequests(context)]).toEqual([!Object.isFrozen(option), false]);
      expect(Object.getOwnPropertyDescriptor(context, CALLER)).toMatchObject({
        value: { request: one },
        enumerable: true,
      });

      const shared = (await contextOf({ req: request() })) as OperationContext;
      expect(hasSeveralRequests(shared)).toBe(true);
      expect(callerOf(shared)).toEqual({ request: undefined, reply: undefined });
    },
  );

  it('is not shared by callers without a request', async () => {
    const onShared = jest.fn();
    const contextOf = contextFunction({}, onShared);
    for (const nothing of [undefined, null, 'text', 'other text']) await contextOf(nothing);
    expect(onShared).not.toHaveBeenCalled();
    await contextOf({});
    expect(onShared).toHaveBeenCalledTimes(1);
  });
});

describe('the options of sockets', () => {
  type Hook = (...args: unknown[]) => Promise<unknown>;
  const optionsOf = (options: Record<string, unknown>) =>
    withSocketContexts(options, () => undefined) as Record<string, Record<string, Record<string, Hook>>>;
  const [socket, request] = [{ name: 'socket' }, { name: 'request' }];
  const caller = (of: object) => ({ [CALLER]: { request: of, reply: undefined } });
  const context = (...args: unknown[]): unknown => ({ args: args.length });

  it('are none where the server has no subscriptions', () => {
    expect(optionsOf({})).toEqual({});
    expect(optionsOf({ subscription: false, subscriptions: {} })).toEqual({});
  });

  it.each([
    [true, {}],
    [{ context, fullWsTransport: true }, { args: 2 }],
  ])('give contexts of Mercurius their socket, beside what the application has: %j', async (own, built) => {
    const { subscription } = optionsOf({ subscription: own });
    expect(subscription).toEqual({ ...(own === true ? {} : own), context: expect.any(Function) as unknown });
    const called = await (subscription?.context as unknown as Hook)(socket, request);
    expect(called).toEqual({ ...built, ...caller({ extra: { socket, request } }) });
  });

  it('give contexts of subscriptions-transport-ws their socket, unless the application refuses it', async () => {
    const name = 'subscriptions-transport-ws';
    const params = { token: 'token' };
    const called = (options: Record<string, unknown>) =>
      optionsOf(options).subscriptions?.[name]?.onConnect?.(params, socket, { request });
    const calledWith = (onConnect: () => unknown) => called({ subscriptions: { [name]: { onConnect } } });
    const own = { connectionParams: params, extra: { socket, request } };
    expect(await called({ subscriptions: { [name]: true } })).toEqual(caller(own));
    expect(await called({ installSubscriptionHandlers: true })).toEqual(caller(own));
    expect(await calledWith(context)).toEqual({ args: 3, ...caller(own) });
    expect(await calledWith(() => undefined)).toEqual(caller(own));
    expect(await calledWith(() => false)).toBe(false);
    const headers = { 'x-auth-token': 'built' };
    const connectionParams = { ...params, headers };
    expect(await calledWith(() => ({ headers }))).toEqual({
      headers,
      ...caller({ ...own, connectionParams }),
    });
  });

  it('separate the contexts of graphql-ws, if it has a context of its own', async () => {
    const { subscriptions } = optionsOf({
      subscriptions: { 'graphql-ws': { context, path: '/graphql' }, path: '/' },
    });
    expect(subscriptions).toMatchObject({ path: '/', 'graphql-ws': { path: '/graphql' } });
    const connection = { extra: { socket, request } };
    const called = await subscriptions?.['graphql-ws']?.context?.(connection);
    expect(called).toEqual({ args: 1, ...caller(connection) });
    const plain = { subscriptions: { 'graphql-ws': true } };
    expect(optionsOf(plain)).toEqual(plain);
  });
});
