import { Inject } from '@nestjs/common';
import { authorityToken, type ProvidedClass } from './authorities/authority-tokens.js';
import { SessionAuthService } from './service/session-auth.service.js';

/**
 * Injects the `SessionAuthService` of a registration by its name, or another class that each registration
 * provides: `SessionAuthEvents`, `SessionSockets` or `SessionHttpService`. `'default'` is the registration
 * without a name, whose classes need no decorator.
 */
export function InjectSessionAuth(
  name: string,
  provided: ProvidedClass = SessionAuthService,
): PropertyDecorator & ParameterDecorator {
  return Inject(authorityToken(name, provided));
}
