/** The `username` that the session service sent, of records whose class has changed it. */
const sent = new WeakMap<object, string>();

/** Keeps the spelling of the session service for a record whose class has changed it. */
export function keepSentUsername(user: object, json: object): void {
  const { username } = json as { readonly username?: unknown };
  if (typeof username === 'string' && (user as { readonly username?: unknown }).username !== username)
    sent.set(user, username);
}

/**
 * Returns whether a predicate holds for a name of the user of a record: as the class of the record spells it,
 * or as the session service does.
 */
export function someUsername(user: object, matches: (username: string) => boolean): boolean {
  const { username } = user as { readonly username?: unknown };
  if (typeof username === 'string' && matches(username)) return true;
  const other = sent.get(user);
  return other !== undefined && matches(other);
}

/** Returns the names of the user of a record: none, one or two. */
export function usernamesOf(user: object): string[] {
  const names: string[] = [];
  someUsername(user, (username) => names.push(username) === 0);
  return names;
}
