import type { IncomingHttpHeaders } from 'node:http';
import type { ArgumentsHost } from '@nestjs/common';
import { grpcCallOf, hasMethods, type GrpcMetadata } from './grpc-call.js';
import {
  entriesOf,
  MAX_FIELDS,
  namedValues,
  nodeRequestOf,
  requestLike,
} from '../kinds/handshake-request.js';
import type { HttpRequest } from '../guard/http-request.js';

interface NatsHeaders {
  keys(): Iterable<string>;
  values(name: string): readonly string[];
}

/**
 * Returns the request that presents the session of a message: the message itself, or, for a tool of MCP, the
 * request of HTTP that its context has.
 */
export function messageRequest(host: ArgumentsHost): HttpRequest {
  const http = requestLike(nodeRequestOf(result(host.getArgByIndex(1), 'getRawRequest')));
  return http ? { headers: http.headers, rawHeaders: http.rawHeaders } : { headers: messageHeaders(host) };
}

function messageHeaders(host: ArgumentsHost): IncomingHttpHeaders {
  const metadata = grpcCallOf(host)?.metadata;
  return namedValues(
    metadata ? grpcEntries(metadata) : brokerEntries(host.getArgByIndex(1)),
  ) as IncomingHttpHeaders;
}

function grpcEntries(metadata: GrpcMetadata): [string, unknown][] {
  return entriesOf(metadata.getMap()).map(([name]) => [name, oneOrList(metadata.get(name))]);
}

/** Nest's contexts of NATS, Kafka, RabbitMQ and MQTT each have the headers in a different place. */
function brokerEntries(context: unknown): (readonly [string, unknown])[] {
  const headers = result(context, 'getHeaders');
  if (isNatsHeaders(headers)) return natsEntries(headers);
  const message = result(context, 'getMessage');
  return entriesOf(
    field(message, 'headers') ??
      field(field(message, 'properties'), 'headers') ??
      field(field(result(context, 'getPacket'), 'properties'), 'userProperties'),
  );
}

function natsEntries(headers: NatsHeaders): (readonly [string, unknown])[] {
  const names = [...headers.keys()];
  return names.length > MAX_FIELDS ? [] : names.map((name) => [name, oneOrList(headers.values(name))]);
}

function isNatsHeaders(candidate: unknown): candidate is NatsHeaders {
  return hasMethods(candidate, 'keys', 'values');
}

/** Returns the result of a method of a context; `undefined` if there is no such method. */
function result(context: unknown, method: string): unknown {
  const found = field(context, method);
  return typeof found === 'function' ? (found.call(context) as unknown) : undefined;
}

function field(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? (of as Readonly<Record<string, unknown>>)[name] : undefined;
}

function oneOrList(values: readonly unknown[]): unknown {
  return values.length === 1 ? values[0] : values;
}
