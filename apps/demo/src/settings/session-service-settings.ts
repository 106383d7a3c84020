import { StartError } from './start-error.js';

/** Which session service the demo asks: one that runs elsewhere, or its own. */
export type SessionServiceSettings =
  { readonly kind: 'remote'; readonly url: string; readonly apiKey: string } | { readonly kind: 'embedded' };

/** Reads SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY: both or neither. */
export function readSessionServiceSettings(env: NodeJS.ProcessEnv): SessionServiceSettings {
  const url = env.SESSION_SERVICE_URL ?? '';
  const apiKey = env.SESSION_SERVICE_API_KEY ?? '';
  if (url && apiKey) return { kind: 'remote', url, apiKey };
  if (url) throw new StartError('SESSION_SERVICE_URL is set: set SESSION_SERVICE_API_KEY to the key of this application as well.');
  if (apiKey) throw new StartError('SESSION_SERVICE_API_KEY is set: set SESSION_SERVICE_URL to the root of the session service as well.');
  if (env.NODE_ENV === 'production') {
    throw new StartError(
      'The embedded session service has well-known passwords and does not start with NODE_ENV=production. ' +
        'Set SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY to use a real one.',
    );
  }
  return { kind: 'embedded' };
}
