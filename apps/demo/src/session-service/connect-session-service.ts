import { type SessionServiceSettings } from '../settings/session-service-settings.js';
import { type ConnectedSessionService } from './connected-session-service.js';

/** Returns the session service of the settings. The embedded one is loaded only if it is used. */
export async function connectSessionService(
  settings: SessionServiceSettings,
): Promise<ConnectedSessionService> {
  if (settings.kind === 'remote') {
    return { url: settings.url, apiKey: settings.apiKey, users: [], close: () => Promise.resolve() };
  }
  const { startEmbeddedSessionService } = await import('./embedded-session-service.js');
  return startEmbeddedSessionService();
}
