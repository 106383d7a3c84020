import { HttpException } from '@nestjs/common';
import { bodyOf, type HttpDenial } from '../contract/denials.js';
import { withoutStack } from '../guard/denial.js';

/** A denial, as the client of a gateway or a microservice receives it. `status` is a convention of Nest. */
export interface DenialPayload {
  readonly status: 'error';
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export function payloadOf({ statusCode, code, message, retryAfterSeconds }: HttpDenial): DenialPayload {
  return {
    status: 'error',
    statusCode,
    code,
    message,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

type ExceptionClass = new (payload: object) => Error;

/** The exceptions of an optional package, which Nest sends to the client unchanged. */
export class PackageExceptions {
  readonly #import: () => Promise<ExceptionClass>;
  #Exception: ExceptionClass | undefined;

  /** @param load imports the class of the exceptions */
  constructor(load: () => Promise<ExceptionClass>) {
    this.#import = load;
  }

  /** Imports the package. Never rejects. An application with a context of the package has it installed. */
  async load(): Promise<void> {
    try {
      this.#Exception ??= await this.#import();
    } catch {
      // Without the package, the exceptions are those of HTTP.
    }
  }

  exceptionOf(denial: HttpDenial, payload: object): Error {
    const Exception = this.#Exception;
    return withoutStack(() =>
      Exception ? new Exception(payload) : new HttpException(bodyOf(denial), denial.statusCode),
    );
  }

  async reject(denial: HttpDenial, payload: object): Promise<never> {
    await this.load();
    throw this.exceptionOf(denial, payload);
  }
}
