import type { SessionKeys } from './session-key.js';

/** A user whose session was confirmed with an IV. Without an IV, the user itself is the entry, which saves an object per session. */
export class UserUnderIv<User> {
  constructor(
    readonly session: string,
    readonly user: User,
  ) {}
}

/** An entry of the session cache. */
export type CachedUser<User> = User | UserUnderIv<User>;

/** Returns the entry of a session that was confirmed. */
export function entryOf<User>(user: User, { token, session }: SessionKeys): CachedUser<User> {
  return session === token ? user : new UserUnderIv(session, user);
}

/** Returns the user of an entry, or `undefined` if it belongs to another IV. */
export function userOf<User>(entry: CachedUser<User> | undefined, { token, session }: SessionKeys): User | undefined {
  if (!(entry instanceof UserUnderIv)) return session === token ? entry : undefined;
  return entry.session === session ? entry.user : undefined;
}
