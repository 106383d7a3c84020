import type { ArgumentsHost } from '@nestjs/common';
import type { HttpDenial } from '../denial.js';

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

/** The canonical codes of gRPC: CANCELLED, INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED, UNAVAILABLE. */
const GRPC_CODES = new Map([
  [499, 1],
  [400, 3],
  [401, 16],
  [403, 7],
  [503, 14],
]);
const GRPC_UNKNOWN = 2;

/** The client is gone, or has no time left: it gets no answer, whatever it is. */
export const CANCELLED: HttpDenial = { statusCode: 499, code: 'CANCELLED', message: 'The call was cancelled', headers: [] };

/** A denial as gRPC says it: a code of its own, and one text beside it. */
export function grpcErrorOf({ statusCode, code, message }: HttpDenial): object {
  return { code: GRPC_CODES.get(statusCode) ?? GRPC_UNKNOWN, message, details: `${code}: ${message}` };
}

/**
 * Ends a call that Nest can't end with what a guard or a handler throws. Of a call that is handed to its handler as it is, nobody listens to
 * that, and a rejection that nobody hears ends the process. On NestJS 11 so does the error of a call whose requests had ended before the guard
 * could hold them. The guard of a call that was ended here never comes to an end.
 */
export function endCall({ call, isPassed, answer }: GrpcCall, error: object): boolean {
  if (!call || !(isPassed || call.readableEnded)) return false;
  if (answer) answer(error);
  else emitError(call, error);
  return true;
}

function emitError(call: NonNullable<GrpcCall['call']>, error: object): void {
  try {
    call.emit('error', error);
  } catch {
    // A listener of NestJS 11 that comes after that of gRPC itself.
  }
}
