import type { HttpDenial } from '../http-denial.js';
import type { GrpcCall } from './grpc-call.js';

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
