import { exceptionOf, type HttpDenial } from '../http-denial.js';
import { withoutStack } from '../without-stack.js';

type ExceptionClass = new (payload: object) => Error;

/**
 * Rejects with an exception of a package that an application may not have. It is imported at the first denial in a context that only this
 * package makes. Were it not there, the exception of HTTP denies as well.
 */
function rejectionWith(load: () => Promise<ExceptionClass>): (denial: HttpDenial, payload: object) => Promise<never> {
  let loading: Promise<ExceptionClass> | undefined;
  return async (denial, payload) => {
    const Exception = await (loading ??= load()).catch(() => undefined);
    throw Exception ? withoutStack(() => new Exception(payload)) : exceptionOf(denial);
  };
}

/** Rejects with a `WsException`, which Nest's gateways send to the client as it is. */
export const rejectMessage = rejectionWith(async () => (await import('@nestjs/websockets')).WsException);

/** Rejects with an `RpcException`, which Nest's microservices send to the caller as it is. */
export const rejectRemoteCall = rejectionWith(async () => (await import('@nestjs/microservices')).RpcException);
