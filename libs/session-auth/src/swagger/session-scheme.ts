import type { DocumentBuilder } from '@nestjs/swagger';
import { AUTH_TOKEN_HEADER } from '../contract/wire.js';

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
