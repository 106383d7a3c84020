import { describe, expect, it } from '@jest/globals';
import type { ExceptionFilter } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EventPattern, KafkaContext, MessagePattern, RmqContext, RpcException } from '@nestjs/microservices';
import { RpcExceptionsHandler } from '@nestjs/microservices/exceptions/rpc-exceptions-handler.js';
import { lastValueFrom, type Observable } from 'rxjs';
import { enhancersOf } from '../guard/enhancers.js';
import { completeDeniedEvents, dropEvent, isKafkaEvent } from './denied-events.js';

class Handlers {
  @EventPattern('event')
  onEvent(payload: unknown): unknown {
    return payload;
  }
  @MessagePattern('message')
  onMessage(payload: unknown): unknown {
    return payload;
  }
}

const HOST = new ExecutionContextHost([]);

/** Nest's handler of the exceptions of a class with message handlers. */
function exceptionsOf(target: object): RpcExceptionsHandler {
  const handler = new RpcExceptionsHandler();
  const filters = enhancersOf(target, 'filter') as (ExceptionFilter & object)[];
  handler.setCustomFilters(
    filters.map((filter) => ({
      func: (exception, host) => filter.catch(exception, host) as Observable<unknown>,
      exceptionMetatypes: Reflect.getMetadata('__filterCatchExceptions__', filter.constructor) as never,
    })),
  );
  return handler;
}

const caught = (exception: unknown): Promise<unknown> =>
  dropEvent(Promise.reject(exception as Error)).catch((error: unknown) => error);

describe('the exception of a denied event', () => {
  it('stays itself, and ends the event without an error', async () => {
    completeDeniedEvents(Handlers);
    completeDeniedEvents(Handlers);
    expect(enhancersOf(Handlers, 'filter')).toHaveLength(1);

    const exception = new RpcException('denied');
    expect(await caught(exception)).toBe(exception);

    await expect(lastValueFrom(exceptionsOf(Handlers).handle(exception, HOST))).resolves.toBeUndefined();
  });

  it('is the only one that is dropped', async () => {
    completeDeniedEvents(Handlers);
    await caught(new RpcException('denied'));

    const exceptions = exceptionsOf(Handlers);
    const handled = lastValueFrom(exceptions.handle(new RpcException('denied'), HOST));
    await expect(handled).rejects.toMatchObject({ message: 'denied' });
  });
});

const REPLY = { kafka_correlationId: '1', kafka_replyTopic: 'replies' };
const kafka = (headers?: object): KafkaContext => new KafkaContext([{ headers }, 0, 'topic', {}] as never);

describe('a message of Kafka', () => {
  it.each<[string, keyof Handlers, object | undefined, boolean]>([
    ['that waits for a reply is a request', 'onMessage', REPLY, false],
    ['for a handler of events is an event', 'onEvent', REPLY, true],
    ['without a correlation id is an event', 'onMessage', { ...REPLY, kafka_correlationId: undefined }, true],
    ['without a topic for its reply is an event', 'onMessage', { ...REPLY, kafka_replyTopic: '' }, true],
    ['without headers is an event', 'onMessage', undefined, true],
  ])('%s, also if its handler is bound', (_case, handler, headers, expected) => {
    const method = Handlers.prototype[handler];
    for (const called of [method, ...Array<typeof method>(9).fill(method.bind({}))])
      expect(isKafkaEvent(new ExecutionContextHost([{}, kafka(headers)], Handlers, called))).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['RabbitMQ', new RmqContext([{ properties: {} }, {}, 'pattern'])],
    ['a transport whose context has no messages', { getConsumer: () => ({}) }],
    ['an unknown transport', undefined],
  ])('is none that came over %s', (_transport, context) => {
    const handler = Reflect.get(Handlers.prototype, 'onEvent') as () => void;
    expect(isKafkaEvent(new ExecutionContextHost([{}, context], Handlers, handler))).toBe(false);
  });
});
