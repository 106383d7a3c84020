import { Inject } from '@nestjs/common';
import { authorityToken, type ProvidedClass } from './authorities/authority-tokens.js';
import { SessionAuthService } from './service/session-auth.service.js';

/**
 * Injects the `SessionAuthService` of an authority by its name, or another class that each authority
 * provides: `SessionAuthEvents`, `SessionSockets` or `SessionHttpService`. `'default'` is the default
 * authority, whose classes need no decorator.
 */
export function InjectSessionAuth(
  name: string,
  provided: ProvidedClass = SessionAuthService,
): PropertyDecorator & ParameterDecorator {
  return Inject(authorityToken(name, provided));
}
