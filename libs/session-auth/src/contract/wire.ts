/** Paths of the interface, below the base URL (section 4). */
export const AUTHENTICATION_PATH = '/authentication';
/** Path of the user details (section 4.3). */
export const USER_DETAILS_PATH = '/authentication/user_details';

/** Names the application on every request (section 5.1). */
export const API_KEY_HEADER = 'X-API-KEY';
/** Carries the session token on sign-out and user details (section 5.4). */
export const AUTH_TOKEN_HEADER = 'X-AUTH-TOKEN';
/** Optional on all three endpoints; purpose and format are not documented (section 5.6). */
export const AUTH_IV_HEADER = 'X-AUTH-IV';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * Whether a token, an IV or a key can go on the wire exactly as it is: 1 to `maxLength` bytes of visible ASCII (our decision).
 * Anything else would be trimmed, re-encoded or split by some part of the way.
 */
export function isHeaderValue(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && VISIBLE_ASCII.test(value);
}
