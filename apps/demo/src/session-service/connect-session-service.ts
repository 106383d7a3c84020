import { type SessionServiceSettings } from '../settings/session-service-settings.js';
import { type ConnectedSessionService } from './connected-session-service.js';

/** Gives the session service of the settings. The embedded one is loaded only by those who use it. */
export async function connectSessionService(settings: SessionServiceSettings): Promise<ConnectedSessionService> {
  if (settings.kind === 'remote') {
    return { url: settings.url, apiKey: settings.apiKey, users: [], close: () => Promise.resolve() };
  }
  const { startEmbeddedSessionService } = await import('./embedded-session-service.js');
  return startEmbeddedSessionService();
}
