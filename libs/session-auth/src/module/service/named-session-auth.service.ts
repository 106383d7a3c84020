import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { UserRecord } from '../../contract/record/user-record.js';
import { setErrorAuthority } from '../../guard/denial.js';
import { SessionAuthService } from './session-auth.service.js';

type Arguments<Method extends 'signIn' | 'signOut' | 'userDetails' | 'verify' | 'forget'> = Parameters<
  SessionAuthService[Method]
>;

type Parts<User extends UserRecord> = ConstructorParameters<typeof SessionAuthService<User>>;

/** Creates the service of an authority. */
export function serviceOf<User extends UserRecord>(
  authority: string,
  ...parts: Parts<User>
): SessionAuthService<User> {
  return authority === DEFAULT_AUTHORITY
    ? new SessionAuthService(...parts)
    : new NamedSessionAuthService(authority, ...parts);
}

/**
 * The service of a named authority. Its errors name the authority, so that a response to one has
 * its challenge.
 */
class NamedSessionAuthService<User extends UserRecord> extends SessionAuthService<User> {
  readonly #authority: string;

  constructor(authority: string, ...parts: Parts<User>) {
    super(...parts);
    this.#authority = authority;
  }

  override signIn(...call: Arguments<'signIn'>): ReturnType<SessionAuthService<User>['signIn']> {
    return this.#named(super.signIn(...call));
  }

  override signOut(...call: Arguments<'signOut'>): Promise<void> {
    return this.#named(super.signOut(...call));
  }

  override userDetails(...call: Arguments<'userDetails'>): Promise<User> {
    return this.#named(super.userDetails(...call));
  }

  override verify(...call: Arguments<'verify'>): Promise<User> {
    return this.#named(super.verify(...call));
  }

  override forget(...call: Arguments<'forget'>): Promise<void> {
    return this.#named(super.forget(...call));
  }

  #named<Result>(work: Promise<Result>): Promise<Result> {
    return work.catch((error: unknown) => {
      setErrorAuthority(error, this.#authority);
      throw error;
    });
  }
}
