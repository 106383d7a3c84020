import { Injectable } from '@nestjs/common';
import { PasswordVerifier } from '../passwords/password-verifier.js';
import { Sessions } from '../sessions/sessions.js';
import { toUserRecord, type UserRecord } from '../users/user-record.js';
import { UserRepository } from '../users/user-repository.js';
import { type SignInDto } from './sign-in.dto.js';

/** Longest user name and longest password, in bytes of UTF-8. Longer ones are wrong without being hashed. */
export const MAX_CREDENTIAL_BYTES = 1024;

/** What became of a sign-in. Pending: the password is right, but the account is not open yet. */
export type SignInOutcome =
  { readonly kind: 'signed-in'; readonly record: UserRecord } | { readonly kind: 'pending' } | { readonly kind: 'refused' };

/** Signs users in by name and password. */
@Injectable()
export class SignIn {
  constructor(
    private readonly users: UserRepository,
    private readonly passwords: PasswordVerifier,
    private readonly sessions: Sessions,
  ) {}

  /** Opens a session when the credentials are right. Does not let on whether the user exists, not even by its duration. */
  async attempt({ username, password }: SignInDto): Promise<SignInOutcome> {
    if (isTooLong(username) || isTooLong(password)) return { kind: 'refused' };

    const user = await this.users.findByUsername(username);
    const fits = await this.passwords.verify(user?.password_hash, password);
    if (!user || !fits) return { kind: 'refused' };
    if (user.pending !== 0) return { kind: 'pending' };

    return { kind: 'signed-in', record: toUserRecord(user, await this.sessions.open(user.username)) };
  }
}

function isTooLong(credential: string): boolean {
  return Buffer.byteLength(credential) > MAX_CREDENTIAL_BYTES;
}
