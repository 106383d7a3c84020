import { applyDecorators } from '@nestjs/common';
import { ApiForbiddenResponse, ApiSecurity, ApiServiceUnavailableResponse, ApiUnauthorizedResponse } from '@nestjs/swagger';
import { SessionAuthDenial } from './denial-body.js';
import { SESSION_SCHEME } from './session-scheme.js';

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
