import { Inject, type InjectionToken } from '@nestjs/common';
import { SessionClient } from '../../client/session-client.js';
import { SessionHttpService } from '../../client/session-http.service.js';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { SessionAuthService } from '../service/session-auth.service.js';
import { SessionAuthEvents } from '../events/session-auth-events.js';
import { PLUGIN_CLASSES, type PluginClass } from '../options/plugins.js';

type ProvidedByPlugin = abstract new (...parts: never[]) => { readonly authority: string };

/** A class that each authority provides to the application. */
export type ProvidedClass =
  typeof SessionAuthService | typeof SessionAuthEvents | typeof SessionHttpService | ProvidedByPlugin;

/** Fixed, because a bundler may rename the classes. */
const LABELS = new Map<unknown, string>([
  [SessionAuthService, 'SessionAuthService'],
  [SessionAuthEvents, 'SessionAuthEvents'],
  [SessionHttpService, 'SessionHttpService'],
  [SessionClient, 'SessionClient'],
]);

export function authorityToken(
  name: string,
  provided: ProvidedClass | PluginClass | typeof SessionClient,
): InjectionToken {
  if (name === DEFAULT_AUTHORITY) return provided;
  return `${LABELS.get(provided) ?? PLUGIN_CLASSES.get(provided)?.name ?? provided.name}@${name}`;
}

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
