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

const CHALLENGE = { description: 'How to ask again', schema: { type: 'string', example: 'X-Auth-Token realm="session"' } } as const;
const RETRY_AFTER = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1, maximum: 120 } } as const;

/** Documents a route, or all of a controller, that a session is needed for: the scheme, and the replies 401, 403 and 503 of the guard. */
export function ApiSessionAuth(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    ApiSecurity(SESSION_SCHEME),
    ApiUnauthorizedResponse({
      description: 'No token, or one that is not valid',
      type: SessionAuthDenial,
      headers: { 'WWW-Authenticate': CHALLENGE },
    }),
    ApiForbiddenResponse({ description: 'This user may not enter', type: SessionAuthDenial }),
    ApiServiceUnavailableResponse({
      description: 'The session service is unavailable',
      type: SessionAuthDenial,
      headers: { 'Retry-After': RETRY_AFTER },
    }),
  );
}

/** Body of a reply of the guard. */
export class SessionAuthDenial {
  /** 401, 403 or 503. */
  @ApiProperty({ example: 401 }) readonly statusCode!: number;
  /** For people. */
  @ApiProperty({ example: 'The session is not valid' }) readonly message!: string;
  /** Name of the status. */
  @ApiProperty({ example: 'Unauthorized' }) readonly error!: string;
  /** For programs: it does not change. */
  @ApiProperty({
    enum: ['SESSION_REQUIRED', 'SESSION_REJECTED', 'ACCESS_DENIED', 'SESSION_SERVICE_UNAVAILABLE'],
    description: 'Stable, for programs',
  })
  readonly code!: string;
}

/** Name of the security scheme in an OpenAPI document. */
export const SESSION_SCHEME = 'session';

/**
 * Adds the security scheme of sessions to a document, so that one can enter a token and try guarded routes.
 *
 * ```ts
 * const config = addSessionAuth(new DocumentBuilder().setTitle('Openings')).build();
 * ```
 */
export function addSessionAuth(builder: DocumentBuilder): DocumentBuilder {
  const description = 'The token of a session, as a sign-in gave it';
  return builder.addApiKey({ type: 'apiKey', in: 'header', name: AUTH_TOKEN_HEADER, description }, SESSION_SCHEME);
}
