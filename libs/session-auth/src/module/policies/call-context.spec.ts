import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Module, type ExecutionContext } from '@nestjs/common';
import { ContextIdFactory, ModuleRef, NestFactory, REQUEST, type ContextId } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage } from '@nestjs/websockets';
import { contextIdOf } from './call-context.js';

@Module({})
class Root {}

class Handlers {
  @MessagePattern('openings')
  onMessage(): string {
    return 'message';
  }
  @SubscribeMessage('openings')
  onFrame(): string {
    return 'frame';
  }
  plain(): string {
    return 'plain';
  }
}

const handlers = Handlers.prototype as unknown as Readonly<Record<keyof Handlers, () => string>>;

function calling(type: string, parameters: unknown[], handler: keyof Handlers = 'plain'): ExecutionContext {
  const context = new ExecutionContextHost(parameters, Handlers, handlers[handler]);
  context.setType(type);
  return context;
}

const overHttp = (request: object): ExecutionContext => calling('http', [request, 'reply', 'next']);
const inGraphql = (context: object): ExecutionContext =>
  calling('graphql', ['parent', 'arguments', context, 'info']);

describe('the context id of a call', () => {
  let moduleRef: ModuleRef;
  beforeAll(async () => {
    moduleRef = (await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false }))
      .select(Root)
      .get(ModuleRef);
  });
  afterEach(() => ContextIdFactory.apply(undefined as never));

  const idOf = (context: ExecutionContext, isDurable = false): ContextId =>
    contextIdOf(context, moduleRef, isDurable);
  const requestOf = (id: ContextId): Promise<unknown> =>
    moduleRef.resolve<unknown>(REQUEST, id, { strict: false });

  it.each<[string, (carrier: object) => ExecutionContext]>([
    ['a request', overHttp],
    ['the raw request of Fastify', (raw) => overHttp({ raw })],
    ['a context of GraphQL', inGraphql],
    ['the request in a context of GraphQL', (req) => inGraphql({ req })],
  ])(
    "is Nest's own if Nest attached one to %s, and REQUEST stays what Nest injects",
    async (_carrier, call) => {
      const id = ContextIdFactory.create();
      moduleRef.registerRequestByContextId('registered by Nest', id);
      expect(idOf(call({ [REQUEST_CONTEXT_ID]: id }))).toBe(id);
      expect(await requestOf(id)).toBe('registered by Nest');
    },
  );

  it.each<[string, (carrier: object) => ExecutionContext]>([
    ['a request', overHttp],
    ['a context of GraphQL', inGraphql],
  ])('is the same for all policies of %s, and injects it as REQUEST', async (_carrier, call) => {
    const [carrier, other] = [{}, {}];
    const id = idOf(call(carrier));
    expect(idOf(call(carrier))).toBe(id);
    expect(idOf(call(other))).not.toBe(id);
    expect(await requestOf(id)).toBe(carrier);
  });

  it.each<[string, ExecutionContext, object]>([
    [
      'a message',
      calling('rpc', ['data', 'context'], 'onMessage'),
      { pattern: 'openings', data: 'data', context: 'context' },
    ],
    [
      'a message without a pattern',
      calling('rpc', ['data', 'context']),
      { pattern: undefined, data: 'data', context: 'context' },
    ],
    [
      "a gateway's message",
      calling('ws', ['socket', 'data'], 'onFrame'),
      { pattern: 'openings', data: 'data', context: 'socket' },
    ],
  ])(
    'is the same for all policies of %s, and injects its pattern, data and context as REQUEST',
    async (_kind, context, request) => {
      const id = idOf(context);
      expect(idOf(context)).toBe(id);
      expect(await requestOf(id)).toEqual(request);
    },
  );

  it('is another for each message, also from the same socket', () => {
    const socket = {};
    const [first, second] = [
      calling('ws', [socket, 'data'], 'onFrame'),
      calling('ws', [socket, 'data'], 'onFrame'),
    ];
    expect(idOf(second)).not.toBe(idOf(first));
  });

  it('injects the payload of the tenant into a durable instance, and the request into any other', async () => {
    const payload = { tenant: 'acme' };
    ContextIdFactory.apply({ attach: (contextId) => ({ resolve: () => contextId, payload }) });
    const request = {};
    expect(await requestOf(idOf(overHttp({}), true))).toBe(payload);
    expect(await requestOf(idOf(overHttp(request), false))).toBe(request);
  });
});
