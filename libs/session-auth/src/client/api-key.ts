import { isHeaderValue } from '../contract/header-value.js';

/**
 * The application key (section 5.1), or a function that gives it before each call, so that it can rotate without a restart: 1 to 4096 visible
 * ASCII characters (our decision). A function that throws, or gives no such key in time, makes the call unavailable: `api_key` or `timeout`.
 */
export type ApiKey = string | (() => string | Promise<string>);

/** Bytes an application key may have (our decision). */
export const MAX_API_KEY_LENGTH = 4096;

/** Asks a key function. `undefined` when it throws or gives no usable key; its error goes no further. */
export async function askForApiKey(ask: () => string | Promise<string>): Promise<string | undefined> {
  try {
    const key: unknown = await ask();
    return isHeaderValue(key, MAX_API_KEY_LENGTH) ? key : undefined;
  } catch {
    return undefined;
  }
}
