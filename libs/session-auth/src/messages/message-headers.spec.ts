import { describe, expect, it } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { Metadata } from '@grpc/grpc-js';
import type { ArgumentsHost } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { KafkaContext, MqttContext, NatsContext, RmqContext, TcpContext } from '@nestjs/microservices';
import { headerCount } from '../guard/http-request.js';
import { messageRequest } from './message-headers.js';

const headers = { 'X-Auth-Token': 'good' };

const messageHeaders = (host: ArgumentsHost) => messageRequest(host).headers;

/** Headers in the form of the NATS client. */
const natsContext = (values: Record<string, string[]>): NatsContext =>
  new NatsContext([
    'subject',
    { keys: () => Object.keys(values), values: (name: string) => values[name] ?? [] },
  ]);
const kafka = (message: object): KafkaContext => new KafkaContext([message, 0, 'topic'] as never);

const host = (context?: object): ArgumentsHost => new ExecutionContextHost([{ some: 'payload' }, context]);

describe('the headers of a message', () => {
  it.each<[string, object]>([
    ['NATS', natsContext({ 'X-Auth-Token': ['good'] })],
    ['Kafka', kafka({ headers })],
    ['RabbitMQ', new RmqContext([{ properties: { headers } }, {}, 'pattern'])],
    ['MQTT 5', new MqttContext(['topic', { properties: { userProperties: headers } }])],
  ])('are read by lower-case names, over %s', (_name, context) => {
    expect(messageHeaders(host(context))).toEqual({ 'x-auth-token': 'good' });
  });

  it.each<[string, object]>([
    ['over NATS', natsContext({ 'x-auth-token': ['good', 'good'] })],
    ['over NATS under two spellings', natsContext({ 'x-auth-token': ['good'], 'X-AUTH-TOKEN': ['good'] })],
    ['over Kafka under two spellings', kafka({ headers: { ...headers, 'x-auth-token': 'good' } })],
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

  it('are empty if there are more than 256 of them, over NATS and gRPC', () => {
    const metadata = new Metadata();
    const values: Record<string, string[]> = {};
    for (let count = 1; count <= 257; count += 1) {
      values[`name-${count}`] = ['value'];
      metadata.set(`name-${count}`, 'value');
      const found = [natsContext(values), metadata].map(
        (each) => Object.keys(messageHeaders(host(each))).length,
      );
      if (count > 255) expect(found).toEqual(count === 256 ? [256, 256] : [0, 0]);
    }
  });

  it.each<[string, object | undefined]>([
    ['a context whose headers have no values', { getHeaders: () => ({ keys: () => ['x-auth-token'] }) }],
    ['a context whose headers have no names', { getHeaders: () => ({ values: () => ['good'] }) }],
    ['a context without a message', { getMessage: () => null }],
    ['NATS without headers', new NatsContext(['subject', undefined])],
    ['Kafka without headers', kafka({})],
    ['RabbitMQ without headers', new RmqContext([{}, {}, 'pattern'])],
    ['MQTT 3', new MqttContext(['topic', {}])],
    ['TCP', new TcpContext([{} as never, 'pattern'])],
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

  it('are not those of a stream that is no request, nor of an object that no server has received', () => {
    for (const built of [new PassThrough(), { headers: { 'x-auth-token': 'good' }, rawHeaders: [] }])
      expect(messageHeaders(host({ getRawRequest: () => built }))).toEqual({});
  });

  it('have no prototype that a name could change', () => {
    const sent: unknown = JSON.parse('{ "__proto__": { "x-auth-token": "good" } }');
    expect(messageHeaders(host(kafka({ headers: sent })))['x-auth-token']).toBeUndefined();
  });
});
