import type { HttpDenial } from '../exceptions/denial-body.js';
import { httpExceptionOf, withoutStack } from './denial.js';

type ExceptionClass = new (payload: object) => Error;

/** The exceptions of an optional package. */
interface PackageExceptions {
  /** Imports the package. Never rejects. An application with a context of the package has it installed. */
  load(): Promise<unknown>;
  /** Returns an exception of the package once it is loaded, otherwise one of HTTP, which denies as well. */
  exceptionOf(denial: HttpDenial, payload: object): Error;
}

function exceptionsOf(load: () => Promise<ExceptionClass>): PackageExceptions {
  let loading: Promise<unknown> | undefined;
  let Exception: ExceptionClass | undefined;
  return {
    load: () =>
      (loading ??= load()
        .then((loaded) => (Exception = loaded))
        .catch(() => undefined)),
    exceptionOf(denial, payload) {
      const Loaded = Exception;
      return Loaded ? withoutStack(() => new Loaded(payload)) : httpExceptionOf(denial);
    },
  };
}

async function reject(exceptions: PackageExceptions, denial: HttpDenial, payload: object): Promise<never> {
  await exceptions.load();
  throw exceptions.exceptionOf(denial, payload);
}

const socketExceptions = exceptionsOf(async () => (await import('@nestjs/websockets')).WsException);

/** Exceptions that Nest's microservices send to the caller unchanged. */
export const remoteExceptions = exceptionsOf(async () => (await import('@nestjs/microservices')).RpcException);

/** Rejects with a `WsException`, which Nest's gateways send to the client unchanged. */
export const rejectSocketMessage = (denial: HttpDenial, payload: object): Promise<never> => reject(socketExceptions, denial, payload);

/** Rejects with an `RpcException`, which Nest's microservices send to the caller unchanged. */
export const rejectRemoteCall = (denial: HttpDenial, payload: object): Promise<never> => reject(remoteExceptions, denial, payload);
