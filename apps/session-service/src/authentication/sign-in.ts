import { Injectable } from '@nestjs/common';
import { type UserRow } from '../database/schema.js';
import { PasswordVerifier } from '../passwords/password-verifier.js';
import { LimitedCheck } from '../sign-in-limits/limited-check.js';
import { describeAttempt } from '../sign-in-limits/sign-in-attempt.js';
import { Sessions } from '../sessions/sessions.js';
import { toUserRecord, type UserRecord } from '../users/user-record.js';
import { UserRepository } from '../users/user-repository.js';
import { type SignInDto } from './sign-in.dto.js';

/** Longest user name and longest password, in bytes of UTF-8. Longer ones are refused without a hash. */
export const MAX_CREDENTIAL_BYTES = 1024;

/** The outcome of a sign-in. `pending`: the password is correct, but the account is not open yet. */
export type SignInOutcome =
  | { readonly kind: 'signed-in'; readonly record: UserRecord }
  | { readonly kind: 'pending' }
  | { readonly kind: 'refused' };

/** Signs users in with user name and password. */
@Injectable()
export class SignIn {
  constructor(
    private readonly users: UserRepository,
    private readonly passwords: PasswordVerifier,
    private readonly sessions: Sessions,
    private readonly limited: LimitedCheck,
  ) {}

  /**
   * Opens a session if the credentials are correct. Does not reveal whether the user exists, not even by its
   * duration.
   *
   * @param address - the remote address of the connection
   * @throws TooManyFailuresError if too many sign-ins of this account or from this address have failed
   */
  async attempt({ username, password }: SignInDto, address: string | undefined): Promise<SignInOutcome> {
    if (isTooLong(username) || isTooLong(password)) return { kind: 'refused' };

    let user: UserRow | undefined;
    const isCorrect = await this.limited.run(describeAttempt(username, address), async (aroundHash) => {
      user = await this.users.findByUsername(username);
      return this.passwords.verify(user?.password_hash, password, aroundHash);
    });
    if (!user || !isCorrect) return { kind: 'refused' };
    if (user.pending !== 0) return { kind: 'pending' };

    return { kind: 'signed-in', record: toUserRecord(user, await this.sessions.open(user.username)) };
  }
}

function isTooLong(credential: string): boolean {
  return Buffer.byteLength(credential) > MAX_CREDENTIAL_BYTES;
}
