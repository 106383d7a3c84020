import type { IncomingHttpHeaders } from 'node:http';
import type { ArgumentsHost } from '@nestjs/common';
import { entriesOf, namedValues } from './handshake.js';

/** Metadata of a gRPC call. */
interface GrpcMetadata {
  getMap(): object;
  get(name: string): readonly unknown[];
}

/** What Nest's contexts of NATS, Kafka, RabbitMQ and MQTT have, as far as it holds headers. */
interface MessageContext {
  getHeaders?(): NatsHeaders | undefined;
  getMessage?(): { readonly headers?: unknown; readonly properties?: { readonly headers?: unknown } } | undefined;
  getPacket?(): { readonly properties?: { readonly userProperties?: unknown } } | undefined;
}

interface NatsHeaders {
  keys(): Iterable<string>;
  values(name: string): readonly string[];
}

/** The metadata of a gRPC call; of a call that streams, it is in the call. */
export function grpcMetadataOf(host: ArgumentsHost): GrpcMetadata | undefined {
  const [first, second] = [host.getArgByIndex<{ metadata?: unknown } | undefined>(0), host.getArgByIndex<unknown>(1)];
  return [second, first?.metadata].find(isGrpcMetadata);
}

/** The headers of a message, in the form of HTTP's. */
export function messageHeaders(host: ArgumentsHost): IncomingHttpHeaders {
  const metadata = grpcMetadataOf(host);
  const entries = metadata ? grpcEntries(metadata) : brokerEntries(host.getArgByIndex<MessageContext | undefined>(1) ?? {});
  return namedValues(entries) as IncomingHttpHeaders;
}

/** Only gRPC's has these. */
export function isGrpcMetadata(candidate: unknown): candidate is GrpcMetadata {
  return typeof candidate === 'object' && candidate !== null && 'getMap' in candidate && 'get' in candidate;
}

function grpcEntries(metadata: GrpcMetadata): [string, unknown][] {
  return entriesOf(metadata.getMap()).map(([name]) => [name, oneOrList(metadata.get(name))]);
}

function brokerEntries(context: MessageContext): [string, unknown][] {
  const nats = context.getHeaders?.();
  if (nats) return Array.from(nats.keys(), (name) => [name, oneOrList(nats.values(name))]);
  const message = context.getMessage?.();
  return entriesOf(message?.headers ?? message?.properties?.headers ?? context.getPacket?.()?.properties?.userProperties);
}

function oneOrList(values: readonly unknown[]): unknown {
  return values.length === 1 ? values[0] : values;
}
