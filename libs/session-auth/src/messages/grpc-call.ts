import type { ArgumentsHost } from '@nestjs/common';
import type { HttpDenial } from '../contract/denials.js';

export interface GrpcMetadata {
  getMap(): object;
  get(name: string): readonly unknown[];
}

export interface ServerCall {
  readonly metadata?: unknown;
  /** Whether the client has cancelled the call, or its deadline has passed. */
  readonly cancelled?: boolean;
  emit(event: 'error', error: object): unknown;
  /** Only on a call that streams its requests, like `resume`. */
  pause?(): unknown;
  resume?(): unknown;
  /**
   * Only on a call that streams its requests: whether the client has sent the last one, and all were read.
   */
  readonly readableEnded?: boolean;
}

export interface GrpcCall {
  readonly metadata: GrpcMetadata;
  readonly call: ServerCall | undefined;
  /** Whether Nest passes the call itself to its handler (`@GrpcStreamCall`). */
  readonly isPassed: boolean;
  /** The callback that ends a passed call, unless the call responds with a stream. */
  readonly answer?: ((error: object) => void) | undefined;
}

/**
 * Recognises a call by its functions, which no client can send. Nest passes request, metadata and call, or
 * the call alone.
 */
export function grpcCallOf(host: ArgumentsHost): GrpcCall | undefined {
  const [first, second, third] = host.getArgs<unknown[]>();
  if (isMetadata(second))
    return { metadata: second, call: isServerCall(third) ? third : undefined, isPassed: false };
  // An object is the context of another transport.
  if (!isServerCall(first) || !isMetadata(first.metadata) || (second && typeof second === 'object'))
    return undefined;
  const answer = typeof second === 'function' ? (second as NonNullable<GrpcCall['answer']>) : undefined;
  return { metadata: first.metadata, call: first, isPassed: true, answer };
}

function isMetadata(candidate: unknown): candidate is GrpcMetadata {
  return hasMethods(candidate, 'getMap', 'get');
}

function isServerCall(candidate: unknown): candidate is ServerCall {
  return hasMethods(candidate, 'emit');
}

export function hasMethods(candidate: unknown, ...names: readonly string[]): boolean {
  if (typeof candidate !== 'object' || candidate === null) return false;
  const members = candidate as Readonly<Record<string, unknown>>;
  return names.every((name) => typeof members[name] === 'function');
}

/**
 * CANCELLED, INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAVAILABLE,
 * UNAUTHENTICATED.
 */
const GRPC_CODES = new Map([
  [499, 1],
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 5],
  [429, 8],
  [503, 14],
]);
const GRPC_UNKNOWN = 2;

export const CANCELLED: HttpDenial = {
  statusCode: 499,
  code: 'CANCELLED',
  message: 'The call was cancelled',
};

export function grpcErrorOf({ statusCode, code, message }: HttpDenial): object {
  return { code: GRPC_CODES.get(statusCode) ?? GRPC_UNKNOWN, message, details: `${code}: ${message}` };
}

/**
 * Ends a call that Nest can't end with an exception. Returns whether the call was ended. Nest does not handle
 * exceptions of a call that is passed to its handler, and an unhandled rejection ends the process. On NestJS
 * 11, so does the error of a call whose requests had ended before the guard could pause them. The promise of
 * the guard then never settles.
 */
export function endCall({ call, isPassed, answer }: GrpcCall, error: object): boolean {
  if (!call || !(isPassed || call.readableEnded)) return false;
  if (answer) answer(error);
  else emitError(call, error);
  return true;
}

export function emitError(call: Pick<ServerCall, 'emit'>, error: object): void {
  try {
    call.emit('error', error);
  } catch {
    // Thrown by a listener of NestJS 11, which runs after that of gRPC.
  }
}
