import { HttpException } from '@nestjs/common';
import { bodyOf, type HttpDenial } from '../contract/denials.js';
import { withoutStack } from '../guard/denial.js';

/**
 * A denial, as the client of a microservice receives it. `status` is a convention of Nest. It has no
 * `statusCode`: where a handler of HTTP sends the message, Nest would answer the handler's own caller with it.
 */
export interface MessageDenial {
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** A denial, as the client of a gateway receives it. */
export interface DenialPayload extends MessageDenial {
  readonly statusCode: number;
}

export function messageDenialOf({ code, message, retryAfterSeconds }: HttpDenial): MessageDenial {
  return { status: 'error', code, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

export function payloadOf(denial: HttpDenial): DenialPayload {
  return { ...messageDenialOf(denial), statusCode: denial.statusCode };
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
