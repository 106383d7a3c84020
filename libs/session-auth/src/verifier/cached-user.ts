import type { SessionKeys } from './session-key.js';

/** A user whose session was confirmed with an IV. Without an IV, the user itself is the entry, which saves an object per session. */
export class UserWithIv<User> {
  constructor(
    readonly sessionKey: string,
    readonly user: User,
  ) {}
}

/** An entry of the session cache. */
export type CacheEntry<User> = User | UserWithIv<User>;

/** Returns the entry of a session that was confirmed. */
export function entryOf<User>(user: User, { tokenKey: token, sessionKey: session }: SessionKeys): CacheEntry<User> {
  return session === token ? user : new UserWithIv(session, user);
}

/** Returns the user of an entry, or `undefined` if it belongs to another IV. */
export function userOf<User>(entry: CacheEntry<User> | undefined, { tokenKey: token, sessionKey: session }: SessionKeys): User | undefined {
  if (!(entry instanceof UserWithIv)) return session === token ? entry : undefined;
  return entry.sessionKey === session ? entry.user : undefined;
}
