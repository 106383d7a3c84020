import { Injectable } from '@nestjs/common';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import { SessionRejectedError } from '../../exceptions/session-exceptions.js';
import type { CurrentUserRecord } from '../access/current-user.decorator.js';
import type { Admission } from '../guarded-request.js';
import { currentCall } from './current-call.js';
import { userIn } from './current-user-of.js';

/** The session of a call, for other services. */
export interface RelayedSession extends SessionIdentity {
  /** Name of the registration that checked the session. */
  readonly authority: string;
}

const OUTSIDE =
  'There is no session here: SessionContext was read outside of a call that SessionAuthGuard has admitted with a session. Read it in a handler that the guard protects or in code that it calls, use findUser() where there may be no session, and currentUserOf(context) in guards and interceptors.';

/**
 * The user and the session of the current call, in any provider that a guarded handler calls. Needs the option `asyncContext`. Controllers,
 * resolvers, gateways and message handlers set it, for themselves and for the pipes and interceptors after the global ones. Guards and
 * earlier interceptors use {@link currentUserOf}.
 */
@Injectable()
export class SessionContext {
  readonly #isOn: boolean;

  /** @internal Created by Nest. */
  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /**
   * The user's record.
   * @throws SessionRejectedError (401, `SESSION_REQUIRED`) outside of a guarded call, and in a call without a session
   * @throws InvalidConfigurationError if `asyncContext` is off
   */
  get user(): CurrentUserRecord {
    return this.findUser() ?? rejectOutside();
  }

  /**
   * Returns the user's record; `undefined` outside of a guarded call, and in a call without a session.
   * @throws InvalidConfigurationError if `asyncContext` is off
   */
  findUser(): CurrentUserRecord | undefined {
    return userIn(this.#admission());
  }

  /**
   * The token of the session, as presented.
   * @throws SessionRejectedError (401, `SESSION_REQUIRED`) outside of a guarded call, and in a call without a session
   * @throws InvalidConfigurationError if `asyncContext` is off
   */
  get token(): string {
    return (this.#admission()?.session ?? rejectOutside()).token;
  }

  /**
   * The `X-AUTH-IV` that was presented with the token (section 5.6); `undefined` if there was none.
   * @throws InvalidConfigurationError if `asyncContext` is off
   */
  get authIv(): string | undefined {
    return this.#admission()?.session?.authIv;
  }

  /** @internal Returns the presented session, with the name of its registration; `undefined` if there is none. For `SessionRelay`. */
  findSession(): RelayedSession | undefined {
    const admission = this.#admission();
    return admission?.session && { ...admission.session, authority: admission.authority };
  }

  /** @internal Rejects the use of an object that cannot work. */
  assertOn(user: string): void {
    if (this.#isOn) return;
    throw new InvalidConfigurationError(`${user} needs asyncContext. Set asyncContext: true in the options of SessionAuthModule.`);
  }

  #admission(): Admission | undefined {
    this.assertOn('SessionContext');
    return currentCall()?.admission;
  }
}

/** Clients get the body of a 401. The message is for the developer. */
function rejectOutside(): never {
  throw Object.assign(new SessionRejectedError('SESSION_REQUIRED'), { message: OUTSIDE });
}
