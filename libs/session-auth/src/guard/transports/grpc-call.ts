import type { ArgumentsHost } from '@nestjs/common';

/** Metadata of a call of gRPC. */
export interface GrpcMetadata {
  getMap(): object;
  get(name: string): readonly unknown[];
}

/** A call as gRPC's server has it. */
export interface ServerCall {
  readonly metadata?: unknown;
  /** The client has cancelled it, or its deadline is over. */
  readonly cancelled?: boolean;
  emit(event: 'error', error: object): unknown;
  /** Of a call that streams its requests. */
  pause?(): unknown;
  resume?(): unknown;
  /** Of a call that streams its requests: the client has sent its last, and all were read. */
  readonly readableEnded?: boolean;
}

/** A call of gRPC, as Nest passes it to guards, filters and parameters. */
export interface GrpcCall {
  readonly metadata: GrpcMetadata;
  readonly call: ServerCall | undefined;
  /** Nest hands the call to its handler as it is (`@GrpcStreamCall`). */
  readonly isPassed: boolean;
  /** What a passed call is answered with, unless it answers with a stream. */
  readonly answer?: ((error: object) => void) | undefined;
}

/**
 * The call of gRPC that a context is about. It is known by functions: no client can send those, whatever the shape of its message. Nest passes
 * request, metadata and call, or else the call alone.
 */
export function grpcCallOf(host: ArgumentsHost): GrpcCall | undefined {
  const [first, second, third] = host.getArgs<unknown[]>();
  if (isMetadata(second)) return { metadata: second, call: isServerCall(third) ? third : undefined, isPassed: false };
  if (!isServerCall(first) || !isMetadata(first.metadata) || isObject(second)) return undefined;
  return { metadata: first.metadata, call: first, isPassed: true, answer: isFunction(second) ? second : undefined };
}

function isMetadata(candidate: unknown): candidate is GrpcMetadata {
  return isObject(candidate) && 'getMap' in candidate && isFunction(candidate.getMap) && 'get' in candidate && isFunction(candidate.get);
}

function isServerCall(candidate: unknown): candidate is ServerCall {
  return isObject(candidate) && 'emit' in candidate && isFunction(candidate.emit);
}

function isObject(candidate: unknown): candidate is object {
  return typeof candidate === 'object' && candidate !== null;
}

function isFunction(candidate: unknown): candidate is (...parameters: unknown[]) => void {
  return typeof candidate === 'function';
}
