import 'reflect-metadata';
import { applyDecorators } from '@nestjs/common';
import {
  ApiForbiddenResponse,
  ApiProperty,
  ApiSecurity,
  ApiServiceUnavailableResponse,
  ApiUnauthorizedResponse,
  type DocumentBuilder,
} from '@nestjs/swagger';
import { AUTH_TOKEN_HEADER } from '../contract/wire.js';

const CHALLENGE = {
  description: 'Scheme of the first token source, and the realm',
  schema: { type: 'string', example: 'X-Auth-Token realm="session"' },
} as const;
const RETRY_AFTER = {
  description: 'Seconds to wait',
  schema: { type: 'integer', minimum: 1, maximum: 120 },
} as const;

/**
 * Documents that a route, or every route of a controller, requires a session: the security scheme, and the
 * responses 401, 403 and 503.
 */
export function ApiSessionAuth(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    ApiSecurity(SESSION_SCHEME),
    ApiUnauthorizedResponse({
      description: 'No token, or one that is not valid',
      type: SessionAuthDenial,
      headers: { 'WWW-Authenticate': CHALLENGE },
    }),
    ApiForbiddenResponse({
      description: 'The user, or the origin of the page, does not have access',
      type: SessionAuthDenial,
    }),
    ApiServiceUnavailableResponse({
      description: 'The session service is unavailable, or access could not be checked',
      type: SessionAuthDenial,
      headers: { 'Retry-After': RETRY_AFTER },
    }),
  );
}

/** Body of a denial of the guard. */
export class SessionAuthDenial {
  /** 401, 403 or 503. */
  @ApiProperty({ example: 401 }) readonly statusCode!: number;
  /** Explanation for people. */
  @ApiProperty({ example: 'The session is not valid' }) readonly message!: string;
  /** Name of the status. */
  @ApiProperty({ example: 'Unauthorized' }) readonly error!: string;
  /** Stable code for programs. */
  @ApiProperty({
    enum: [
      'SESSION_REQUIRED',
      'SESSION_REJECTED',
      'ACCESS_DENIED',
      'CROSS_ORIGIN_DENIED',
      'ACCESS_CHECK_FAILED',
      'SESSION_SERVICE_UNAVAILABLE',
    ],
    description: 'Stable code for programs',
  })
  readonly code!: string;
  /** Seconds to wait, as in `Retry-After`. With 503 only. */
  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: 1,
    maximum: 120,
    description: 'Seconds to wait, with 503 only',
  })
  readonly retryAfterSeconds?: number;
}

/** Name of the security scheme in an OpenAPI document. */
export const SESSION_SCHEME = 'session';

/** A security scheme of OpenAPI, as `DocumentBuilder` accepts it. */
export type SessionScheme = Parameters<DocumentBuilder['addSecurity']>[1];

const TOKEN_IN_HEADER: SessionScheme = { type: 'apiKey', in: 'header', name: AUTH_TOKEN_HEADER };

/**
 * Adds the security scheme of sessions to a document, so that users of its page can enter a token and try
 * guarded routes.
 *
 * @example
 * ```ts
 * const config = addSessionAuth(new DocumentBuilder().setTitle('Openings')).build();
 * ```
 *
 * @param scheme the place of the token, if you set the option `token`: `{ type: 'http', scheme: 'bearer' }`
 * for `fromBearer()`.
 * @default the header `X-AUTH-TOKEN`
 */
export function addSessionAuth(
  builder: DocumentBuilder,
  scheme: SessionScheme = TOKEN_IN_HEADER,
): DocumentBuilder {
  const description = 'The token of a session, as returned by a sign-in';
  return builder.addSecurity(SESSION_SCHEME, { description, ...scheme });
}
