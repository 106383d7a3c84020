import type { HttpDenial } from '../http-denial.js';

/** A refusal as the client of a socket or of a microservice gets it. `status` is Nest's word; `code` is one of the stable codes. */
export interface DenialPayload {
  readonly status: 'error';
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export function payloadOf({ statusCode, code, message, retryAfterSeconds }: HttpDenial): DenialPayload {
  return { status: 'error', statusCode, code, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}
