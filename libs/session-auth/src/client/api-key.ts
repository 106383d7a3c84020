import { isHeaderValue } from '../contract/header-value.js';
import { CallFailure } from './call-failure.js';

/** The application key, or a function that gives it before each call, so that it can rotate without a restart. */
export type ApiKey = string | (() => string | Promise<string>);

/** Bytes an application key may have (our decision). */
export const MAX_API_KEY_LENGTH = 4096;

/** The key for one call. A key function that throws or gives no usable key fails the call, and its error goes no further. */
export function readApiKey(apiKey: ApiKey): string | Promise<string> {
  return typeof apiKey === 'string' ? apiKey : askForApiKey(apiKey);
}

async function askForApiKey(ask: () => string | Promise<string>): Promise<string> {
  const key: unknown = await Promise.resolve()
    .then(ask)
    .catch(() => undefined);
  if (!isHeaderValue(key, MAX_API_KEY_LENGTH)) throw new CallFailure('api_key');
  return key;
}
