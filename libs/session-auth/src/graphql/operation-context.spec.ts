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

  it('with a third request behind two equal ones has several requests', () => {
    const one = request();
    expect(
      hasSeveralRequests({
        req: one as unknown as OperationContext,
        reply: { request: one },
        request: request(),
      }),
    ).toBe(true);
  });

  it('without a request, or without a caller, has one request at most', () => {
    expect([{}, { [CALLER]: { request: undefined, reply: undefined } }].map(hasSeveralRequests)).toEqual([
      false,
      false,
    ]);
  });

  it('has its caller under a name that all copies of this package share', () => {
    expect(Symbol.keyFor(CALLER)).toBe('nestjs-session-auth.graphql-caller');
  });
});

describe('the context of an operation', () => {
  it.each<[string, unknown[], Caller]>([
    [
      'an object of request and reply',
      [{ req: 'request', res: 'reply' }],
      { request: 'request', reply: 'reply' },
    ],
    ['request and reply', ['request', 'reply'], { request: 'request', reply: 'reply' }],
    ['nothing', [], { request: undefined, reply: undefined }],
  ])('holds its caller, if the server passes %s', async (_kind, args, caller) => {
    for (const option of [undefined, null, { names: ['ann'] }, () => undefined, () => ({})])
      expect(callerOf(await separateContexts(option, jest.fn())(...args))).toEqual(caller);
  });

  it('has an enumerable caller, which Apollo copies for each operation', async () => {
    for (const option of [undefined, {}]) {
      const context = (await separateContexts(option, jest.fn())('request')) as object;
      expect(callerOf({ ...context })?.request).toBe('request');
    }
  });

  it('is built from the arguments of the server, as an application wants it', async () => {
    const option = jest.fn((...args: unknown[]) => Promise.resolve({ args }));
    expect(await separateContexts(option, jest.fn())('one', 'two')).toMatchObject({ args: ['one', 'two'] });
    expect(option).toHaveBeenCalledTimes(1);
  });

  it('that is no object stays what it is', async () => {
    expect(await separateContexts(() => 'text', jest.fn())()).toBe('text');
  });

  it.each([
    ['an object', {}],
    ['an object without a prototype', Object.create(null) as object],
  ])('is a copy of %s, with getters as getters', async (_kind, empty) => {
    let reads = 0;
    const option = Object.defineProperty(empty, 'count', { get: () => (reads += 1), enumerable: true });

    const context = (await separateContexts(option, jest.fn())(request())) as { readonly count: number };

    expect([reads, context.count, context.count]).toEqual([0, 1, 2]);
    expect(Object.getPrototypeOf(context)).toBe(Object.getPrototypeOf(option));
    expect(callerOf(option)).toBeUndefined();
  });
});

class Context {
  readonly names = ['ann'];
}

describe('an object that is the context of several requests', () => {
  it('has its own caller in the copy of each request, and is reported for each further one', async () => {
    const onShared = jest.fn();
    const contextOf = separateContexts({}, onShared);
    const [one, other] = [request(), request()];

    expect([callerOf(await contextOf(one))?.request, onShared.mock.calls.length]).toEqual([one, 0]);
    expect([callerOf(await contextOf(one))?.request, onShared.mock.calls.length]).toEqual([one, 0]);
    expect([callerOf(await contextOf(other))?.request, onShared.mock.calls.length]).toEqual([other, 1]);
    expect([callerOf(await contextOf(one))?.request, onShared.mock.calls.length]).toEqual([one, 1]);
  });

  it.each([
    ['that can be changed', new Context()],
    ['that is frozen', Object.freeze(new Context())],
  ])(
    'and of a class %s has the caller of its first request, and none from the second on',
    async (_kind, option) => {
      const contextOf = separateContexts(option, jest.fn());
      const one = request();

      const context = (await contextOf({ req: one })) as Context & OperationContext;
      expect([context instanceof Context, context.names, context[CALLER]?.request]).toEqual([
        true,
        ['ann'],
        one,
      ]);
      expect([context === option, hasSeveralRequests(context)]).toEqual([!Object.isFrozen(option), false]);
      expect(Object.getOwnPropertyDescriptor(context, CALLER)?.enumerable).toBe(true);

      const shared = (await contextOf({ req: request() })) as OperationContext;
      expect([hasSeveralRequests(shared), shared[CALLER]?.request, shared[CALLER]?.reply]).toEqual([
        true,
        undefined,
        undefined,
      ]);
    },
  );

  it.each<[string, (one: unknown) => unknown]>([
    ['a request', (one) => ({ req: one })],
    ['a request of Fastify', (one) => ({ raw: one })],
    ['a socket', (one) => ({ extra: { request: one } })],
  ])('is not shared by the operations of %s', async (_kind, wrap) => {
    const onShared = jest.fn();
    const contextOf = separateContexts({}, onShared);
    const one = request();
    await contextOf(wrap(one));
    await contextOf(wrap(one));
    expect(onShared).not.toHaveBeenCalled();
    await contextOf(wrap(request()));
    expect(onShared).toHaveBeenCalledTimes(1);
  });

  it('is shared by callers that are different objects, and not by callers without a request', async () => {
    const onShared = jest.fn();
    const contextOf = separateContexts({}, onShared);
    for (const nothing of [undefined, null, 'text', 'other text', undefined]) await contextOf(nothing);
    expect(onShared).not.toHaveBeenCalled();
    await contextOf({});
    expect(onShared).toHaveBeenCalledTimes(1);

    const contextOfObjects = separateContexts({}, onShared);
    await contextOfObjects({});
    await contextOfObjects({});
    expect(onShared).toHaveBeenCalledTimes(2);
  });
});

describe('the options of sockets', () => {
  const ignore = (): void => undefined;
  const call = (hook: unknown, ...args: unknown[]): unknown =>
    (hook as (...args: unknown[]) => unknown)(...args);
  const [socket, request] = [{ name: 'socket' }, { name: 'request' }];
  const caller = (of: object) => ({ [CALLER]: { request: of, reply: undefined } });

  it('are none where the server has no subscriptions', () => {
    expect(withSocketContexts({}, ignore)).toEqual({});
    expect(withSocketContexts({ subscription: false, subscriptions: {} }, ignore)).toEqual({});
  });

  it.each([[true], [{ fullWsTransport: true }]])(
    'give contexts of Mercurius their socket: %j',
    async (own) => {
      const { subscription } = withSocketContexts({ subscription: own }, ignore) as {
        subscription: { context: unknown; fullWsTransport?: boolean };
      };
      expect(subscription.fullWsTransport).toBe(own === true ? undefined : true);
      expect(await call(subscription.context, socket, request)).toEqual(
        caller({ extra: { socket, request } }),
      );
    },
  );

  it('keep what the context function of the application returns', async () => {
    const context = (...args: unknown[]): unknown => ({ args });
    const { subscription } = withSocketContexts({ subscription: { context } }, ignore) as {
      subscription: { context: unknown };
    };
    expect(await call(subscription.context, socket, request)).toEqual({
      args: [socket, request],
      ...caller({ extra: { socket, request } }),
    });
  });

  it('give contexts of subscriptions-transport-ws their socket, unless the application refuses it', async () => {
    const params = { token: 'token' };
    const onConnectOf = (options: Record<string, unknown>): unknown =>
      (
        withSocketContexts(options, ignore) as {
          subscriptions: { 'subscriptions-transport-ws': { onConnect: unknown; path?: string } };
        }
      ).subscriptions['subscriptions-transport-ws'].onConnect;
    const hookOf = (own: unknown): unknown =>
      onConnectOf({ subscriptions: { 'subscriptions-transport-ws': own } });
    const own = { connectionParams: params, extra: { socket, request } };
    for (const hook of [hookOf(true), onConnectOf({ installSubscriptionHandlers: true })])
      expect(await call(hook, params, socket, { request })).toEqual(caller(own));
    const onConnect = (...args: unknown[]): unknown => ({ args: args.length });
    expect(await call(hookOf({ onConnect }), params, socket, { request })).toEqual({
      args: 3,
      ...caller(own),
    });
    const headers = { 'x-auth-token': 'built' };
    expect(await call(hookOf({ onConnect: () => ({ headers }) }), params, socket, { request })).toEqual({
      headers,
      ...caller({ ...own, connectionParams: { ...params, headers } }),
    });
    expect(await call(hookOf({ onConnect: () => false }), params, socket, { request })).toBe(false);
    expect(await call(hookOf({ onConnect: () => undefined }), params, socket, {})).toEqual(
      caller({ connectionParams: params, extra: { socket, request: undefined } }),
    );
  });

  it('separate the contexts of graphql-ws, if it has a context of its own', async () => {
    const own = { context: () => ({ tenant: 'acme' }), path: '/graphql' };
    const { subscriptions } = withSocketContexts(
      { subscriptions: { 'graphql-ws': own, path: '/' } },
      ignore,
    ) as {
      subscriptions: { 'graphql-ws': { context: unknown; path: string }; path: string };
    };
    expect([subscriptions.path, subscriptions['graphql-ws'].path]).toEqual(['/', '/graphql']);
    const connection = { extra: { socket, request } };
    expect(await call(subscriptions['graphql-ws'].context, connection)).toEqual({
      tenant: 'acme',
      [CALLER]: { request: connection, reply: undefined },
    });
    expect(withSocketContexts({ subscriptions: { 'graphql-ws': true } }, ignore)).toEqual({
      subscriptions: { 'graphql-ws': true },
    });
  });
});
