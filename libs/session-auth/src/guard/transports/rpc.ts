import type { ArgumentsHost } from '@nestjs/common';
import { of, throwError } from 'rxjs';
import type { HttpDenial } from '../http-denial.js';
import { payloadOf } from './denial-payload.js';
import { KeptRequests } from './kept-requests.js';
import { grpcMetadataOf, isGrpcMetadata, messageHeaders } from './message-headers.js';
import { rejectRemoteCall } from './optional-packages.js';
import type { Transport } from './transport.js';

type Answer = (error: object) => void;

/** Beside it a handler gets what to answer with, unless it answers with a stream. */
interface PassedCall {
  readonly metadata?: unknown;
  emit(event: 'error', error: object): unknown;
}

const calls = new KeptRequests();

/** Message handlers of microservices. The token is in the metadata of gRPC or the message's headers; TCP and Redis have none: see `fromPayload`. */
export const RPC: Transport = {
  open: (context) => ({
    transport: RPC,
    context,
    request: calls.open(ownObjectOf(context), () => ({ headers: messageHeaders(context) })),
  }),

  requestOf: (context) => calls.find(ownObjectOf(context)),

  parameters: (context) => context.getArgByIndex(0),

  deny({ context }, denial) {
    const payload = remotePayloadOf(context, denial);
    return failPassedCall(context, payload) ? new Promise(() => undefined) : rejectRemoteCall(denial, payload);
  },

  answer(host, denial) {
    const payload = remotePayloadOf(host, denial);
    return failPassedCall(host, payload) ? of(undefined) : throwError(() => payload);
  },
};

/**
 * Ends a call of gRPC that Nest hands to its handler as it is (`@GrpcStreamCall`): nobody listens to what such a handler or its guard throws,
 * and a rejection that nobody hears ends the process. So the call gets the error, and its guard never comes to an end.
 */
function failPassedCall(host: ArgumentsHost, error: object): boolean {
  const [call, answer] = [host.getArgByIndex<PassedCall | undefined>(0), host.getArgByIndex<Answer | object | undefined>(1)];
  if (!call || !isGrpcMetadata(call.metadata) || typeof answer === 'object') return false;
  if (typeof answer === 'function') answer(error);
  else call.emit('error', error);
  return true;
}

/** What belongs to one call alone: Nest's context of the message or the metadata of gRPC, or else the call that a stream handler gets. */
function ownObjectOf(host: ArgumentsHost): object {
  const context = host.getArgByIndex<unknown>(1);
  if (typeof context === 'object' && context !== null) return context;
  const call = host.getArgByIndex<unknown>(0);
  return typeof call === 'object' && call !== null ? call : host;
}

/** The canonical codes of gRPC: INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED, UNAVAILABLE. */
const GRPC_CODES = new Map([
  [400, 3],
  [401, 16],
  [403, 7],
  [503, 14],
]);
const GRPC_UNKNOWN = 2;

/** gRPC has a code of its own, and one text beside it. */
function remotePayloadOf(host: ArgumentsHost, denial: HttpDenial): object {
  if (!grpcMetadataOf(host)) return payloadOf(denial);
  const { statusCode, code, message } = denial;
  return { code: GRPC_CODES.get(statusCode) ?? GRPC_UNKNOWN, message, details: `${code}: ${message}` };
}
