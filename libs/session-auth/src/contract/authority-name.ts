export const DEFAULT_AUTHORITY = 'default';

/**
 * A name appears in metrics, log lines and injection tokens, and separates the entries of a store: no space,
 * no slash, no colon.
 */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Returns whether a value is the name of an authority, {@link DEFAULT_AUTHORITY} included. */
export function isAuthorityName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name);
}

/** Describes a valid name, for messages. */
export const AUTHORITY_NAME_FORM =
  '1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or a digit';
