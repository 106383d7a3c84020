/** Path of sign-in and sign-out, relative to the base URL (sections 4.1 and 4.2). */
export const AUTHENTICATION_PATH = '/authentication';
/** Path of user_details, relative to the base URL (section 4.3). */
export const USER_DETAILS_PATH = '/authentication/user_details';

/** Header of the application key, on every request (section 5.1). */
export const API_KEY_HEADER = 'X-API-KEY';
/** Header of the session token, on sign-out and user_details (section 5.4). */
export const AUTH_TOKEN_HEADER = 'X-AUTH-TOKEN';
/**
 * Header of the IV, optional on all three endpoints. Its purpose and format are not documented (section 5.6).
 */
export const AUTH_IV_HEADER = 'X-AUTH-IV';

/** Maximum length of an application key, in bytes (our decision). */
export const MAX_API_KEY_LENGTH = 4_096;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * Returns whether a token, an IV or a key can be sent unchanged in a header: 1 to `maxLength` bytes of
 * visible ASCII (our decision). HTTP clients and proxies may trim, re-encode or split anything else.
 */
export function isHeaderValue(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && VISIBLE_ASCII.test(value);
}

/**
 * Parses a JSON object; `undefined` for any other value, and for a text that is not JSON.
 * @param revive as of `JSON.parse()`
 */
export function parseObject(
  text: string,
  revive?: (name: string, value: unknown) => unknown,
): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text, revive);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
