import { applyDecorators } from '@nestjs/common';
import { ApiForbiddenResponse, ApiSecurity, ApiServiceUnavailableResponse, ApiUnauthorizedResponse } from '@nestjs/swagger';

/** Name of the security scheme in the OpenAPI document. */
export const SESSION_SCHEME = 'session';

/** Documents a route that only a signed-in user reaches. */
export function ApiSignedIn(): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ApiSecurity(SESSION_SCHEME),
    ApiUnauthorizedResponse({ description: 'No token, or one that works no more' }),
    ApiForbiddenResponse({ description: 'This user may not do this' }),
    ApiServiceUnavailableResponse({ description: 'The session service gives no answer: try again after Retry-After' }),
  );
}
