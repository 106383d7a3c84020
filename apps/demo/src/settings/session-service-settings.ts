import { StartError } from './start-error.js';

/** The session service that the demo calls: a remote one, or the embedded one. */
export type SessionServiceSettings =
  | { readonly kind: 'remote'; readonly url: string; readonly apiKey: string }
  | { readonly kind: 'embedded' };

/** Reads SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY: both must be set, or neither. */
export function readSessionServiceSettings(env: NodeJS.ProcessEnv): SessionServiceSettings {
  const url = env.SESSION_SERVICE_URL ?? '';
  const apiKey = env.SESSION_SERVICE_API_KEY ?? '';
  if (url && apiKey) return { kind: 'remote', url, apiKey };
  if (url)
    throw new StartError(
      'SESSION_SERVICE_URL is set without a key: also set SESSION_SERVICE_API_KEY to the key of this application.',
    );
  if (apiKey)
    throw new StartError(
      'SESSION_SERVICE_API_KEY is set without a URL: also set SESSION_SERVICE_URL to the root of the session service.',
    );
  if (env.NODE_ENV === 'production') {
    throw new StartError(
      'The embedded session service has published passwords and does not start with NODE_ENV=production. ' +
        'Set SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY to use a real one.',
    );
  }
  return { kind: 'embedded' };
}
