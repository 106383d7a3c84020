import { describe, expect, it } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { Metadata } from '@grpc/grpc-js';
import type { ArgumentsHost } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import {
  KafkaContext,
  MqttContext,
  NatsContext,
  RedisContext,
  RmqContext,
  TcpContext,
} from '@nestjs/microservices';
import { headerCount } from '../guard/http-request.js';
import { messageRequest } from './message-headers.js';

const headers = { 'X-Auth-Token': 'good' };

const messageHeaders = (host: ArgumentsHost) => messageRequest(host).headers;

/** Headers in the form of the NATS client. */
const natsHeaders = (values: Record<string, string[]>): object => ({
  keys: () => Object.keys(values),
  values: (name: string) => values[name] ?? [],
});

function metadataOf(values: Record<string, string[]>): Metadata {
  const metadata = new Metadata();
  for (const [name, [value = '']] of Object.entries(values)) metadata.set(name, value);
  return metadata;
}

const host = (context?: object): ArgumentsHost => new ExecutionContextHost([{ some: 'payload' }, context]);

describe('the headers of a message', () => {
  it.each<[string, object]>([
    ['NATS', new NatsContext(['subject', natsHeaders({ 'X-Auth-Token': ['good'] })])],
    ['Kafka', new KafkaContext([{ headers }, 0, 'topic'] as never)],
    ['RabbitMQ', new RmqContext([{ properties: { headers } }, {}, 'pattern'])],
    ['MQTT 5', new MqttContext(['topic', { properties: { userProperties: headers } }])],
  ])('are read by lower-case names, over %s', (_name, context) => {
    expect(messageHeaders(host(context))).toEqual({ 'x-auth-token': 'good' });
  });

  it.each<[string, object]>([
    ['over NATS', new NatsContext(['subject', natsHeaders({ 'x-auth-token': ['good', 'good'] })])],
    [
      'over NATS under two spellings',
      new NatsContext(['subject', natsHeaders({ 'x-auth-token': ['good'], 'X-AUTH-TOKEN': ['good'] })]),
    ],
    [
      'over Kafka under two spellings',
      new KafkaContext([{ headers: { ...headers, 'x-auth-token': 'good' } }, 0, 'topic'] as never),
    ],
  ])('are a list if one is repeated, %s', (_case, context) => {
    expect(messageHeaders(host(context))).toEqual({ 'x-auth-token': ['good', 'good'] });
  });

  it('are read from the metadata of gRPC, and are a list if one is repeated', () => {
    const metadata = new Metadata();
    metadata.add('X-Auth-Token', 'good');
    metadata.add('x-other', 'one');
    metadata.add('x-other', 'two');
    expect(messageHeaders(host(metadata))).toEqual({ 'x-auth-token': 'good', 'x-other': ['one', 'two'] });
  });

  it.each<[string, (values: Record<string, string[]>) => object]>([
    ['NATS', (values) => new NatsContext(['subject', natsHeaders(values)])],
    ['gRPC', (values) => metadataOf(values)],
  ])('are empty if there are more than 256 of them, over %s', (_name, contextOf) => {
    const valuesOf = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, ['value']]));
    expect(Object.keys(messageHeaders(host(contextOf(valuesOf(256)))))).toHaveLength(256);
    expect(messageHeaders(host(contextOf(valuesOf(257))))).toEqual({});
  });

  it.each<[string, object | undefined]>([
    ['a context whose headers have no values', { getHeaders: () => ({ keys: () => ['x-auth-token'] }) }],
    ['a context whose headers have no names', { getHeaders: () => ({ values: () => ['good'] }) }],
    ['a context without a message', { getMessage: () => null }],
    ['a context with other members', { getMessage: 'text' }],
    ['NATS without headers', new NatsContext(['subject', undefined])],
    ['Kafka without headers', new KafkaContext([{}, 0, 'topic'] as never)],
    ['RabbitMQ without headers', new RmqContext([{}, {}, 'pattern'])],
    ['MQTT 3', new MqttContext(['topic', {}])],
    ['TCP', new TcpContext([{} as never, 'pattern'])],
    ['Redis', new RedisContext(['channel'])],
    ['an unknown transport', undefined],
  ])('are empty over %s', (_name, context) => {
    expect(messageHeaders(host(context))).toEqual({});
  });

  it.each<[string, (request: IncomingMessage) => object]>([
    ['Express', (request) => request],
    ['Fastify', (request) => ({ headers: { 'x-auth-token': 'other' }, raw: request })],
  ])('are those of the request in a context of MCP, on %s, repeated ones counted', (_name, rawOf) => {
    const http = Object.assign(new IncomingMessage(new Socket()), {
      headers: { authorization: 'Bearer good' },
      rawHeaders: ['Authorization', 'Bearer good', 'authorization', 'Bearer other'],
    });
    const request = messageRequest(host({ getRawRequest: () => rawOf(http) }));
    expect(request.headers.authorization).toBe('Bearer good');
    expect(headerCount(request, 'authorization')).toBe(2);
  });

  it('are none for a stream that is no request', () => {
    expect(messageHeaders(host({ getRawRequest: () => new PassThrough() }))).toEqual({});
  });

  it('are not those of an object that no server has received', () => {
    const built = { headers: { 'x-auth-token': 'good' }, rawHeaders: [] };
    expect(messageHeaders(host({ getRawRequest: () => built }))).toEqual({});
  });

  it('have no prototype that a name could change', () => {
    const named = messageHeaders(
      host(
        new KafkaContext([
          { headers: JSON.parse('{ "__proto__": { "x-auth-token": "good" } }') as object },
          0,
          'topic',
        ] as never),
      ),
    );
    expect(named['x-auth-token']).toBeUndefined();
  });
});
