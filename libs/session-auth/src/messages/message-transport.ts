import type { ExecutionContext } from '@nestjs/common';
import { of, throwError } from 'rxjs';
import type { HttpDenial } from '../contract/denials.js';
import { guardEveryHandler } from '../kinds/application-guards.js';
import { denialOf } from '../guard/denial.js';
import { messageDenialOf, PackageExceptions } from '../kinds/client-denial.js';
import { dropEvent, isKafkaEvent, completeDeniedEvents } from './denied-events.js';
import { CANCELLED, endCall, grpcCallOf, grpcErrorOf } from './grpc-call.js';
import { endWithSession } from './grpc-streams.js';
import { pauseRequests } from './paused-requests.js';
import type { ContextKind, Transport } from '../guard/transport.js';
import { bindRequest, boundRequest } from '../kinds/bound-request.js';
import { messageRequest } from './message-headers.js';

export const remoteExceptions = new PackageExceptions(
  async () => (await import('@nestjs/microservices')).RpcException,
);

/**
 * Lowest index of a bound request. Nest passes data and context, or the parts of a gRPC call, of which there
 * are up to three.
 */
const BOUND_INDEX = 3;

/**
 * Message handlers of microservices. The token is in the gRPC metadata or the message's headers. TCP and
 * Redis have no headers: see `fromPayload`.
 */
export const RPC: Transport = {
  open(context) {
    const request = boundRequest(context) ?? bindRequest(context, BOUND_INDEX, 0, messageRequest(context));
    const grpc = grpcCallOf(context);
    if (grpc) {
      pauseRequests(context, grpc);
      void remoteExceptions.load();
    }
    return { transport: RPC, context, request };
  },

  /**
   * Throws if a gRPC call was cancelled during the check: on NestJS 11, its handler would not be notified.
   */
  admitted({ context }) {
    const grpc = grpcCallOf(context);
    if (grpc?.call?.cancelled && !grpc.isPassed)
      throw remoteExceptions.exceptionOf(CANCELLED, grpcErrorOf(CANCELLED));
  },

  watch(call, registration) {
    endWithSession(call, registration, grpcCallOf(call.context)?.call);
    return undefined;
  },

  requestOf: boundRequest,

  parameters: (context) => context.getArgByIndex(0),

  deny({ context }, denial) {
    const grpc = grpcCallOf(context);
    if (!grpc) return rejectOrDrop(context, denial);
    const error = grpcErrorOf(denial);
    return endCall(grpc, error) ? new Promise(() => undefined) : remoteExceptions.reject(denial, error);
  },

  answer(host, error) {
    const denial = denialOf(error);
    const grpc = grpcCallOf(host);
    if (!grpc) return throwError(() => messageDenialOf(denial));
    const status = grpcErrorOf(denial);
    return grpc.isPassed && endCall(grpc, status) ? of(undefined) : throwError(() => status);
  },
};

/** An outage does not drop an event of Kafka: kafkajs delivers it again later. */
function rejectOrDrop(context: ExecutionContext, denial: HttpDenial): Promise<never> {
  const rejection = remoteExceptions.reject(denial, messageDenialOf(denial));
  return denial.statusCode !== 503 && isKafkaEvent(context) ? dropEvent(rejection) : rejection;
}

export const KIND: ContextKind = {
  transport: RPC,
  prepareHandlers: completeDeniedEvents,
  guardHandlers: guardEveryHandler,
};
