import { Injectable } from '@nestjs/common';
import type { SessionIdentity } from '../contract/session-identity.js';
import { SessionRejectedError } from '../exceptions/session-exceptions.js';
import type { CurrentRequestUser, CurrentUserRecord } from '../guard/current-user.decorator.js';
import type { Admission } from '../guard/guarded-request.js';
import { ProvidedBy } from '../module/options/plugins.js';
import type { CurrentCall } from './current-call.js';
import { userIn } from './current-user-of.js';

/** The session of a call, for other services. */
export interface RelayedSession extends SessionIdentity {
  /** Name of the authority that checked the session. */
  readonly authority: string;
}

const OUTSIDE =
  'There is no session here: SessionContext was read outside of a call that SessionAuthGuard has admitted with a session. Read it in a handler that the guard protects or in code that it calls, use findUser() where there may be no session, and currentUserOf(context) in guards and interceptors.';

/**
 * The user and the session of the current call, in any provider that a guarded handler calls. The plugin
 * {@link sessionContext} provides it. Controllers, resolvers, gateways and message handlers set it, for
 * themselves and for the pipes and interceptors after the global ones. Guards and earlier interceptors use
 * {@link currentUserOf}.
 */
@ProvidedBy('sessionContext of nestjs-session-auth/context', 'SessionContext')
@Injectable()
export class SessionContext {
  readonly #currentCall: () => CurrentCall | undefined;

  /** @internal Created by Nest. */
  constructor(call: () => CurrentCall | undefined) {
    this.#currentCall = call;
  }

  /**
   * The user, as `@CurrentUser()` injects it: the record, or what `loadUser` has loaded.
   * @throws SessionRejectedError (401, `SESSION_REQUIRED`) outside of a guarded call, and in a call without a
   * session
   */
  get user(): CurrentRequestUser {
    return this.findUser() ?? rejectOutside();
  }

  /** Returns the user; `undefined` outside of a guarded call, and in a call without a session. */
  findUser(): CurrentRequestUser | undefined {
    return userIn(this.#admission());
  }

  /** The record of the session service; `undefined` outside of a guarded call, and in one without a session. */
  get record(): CurrentUserRecord | undefined {
    const record: unknown = this.#admission()?.user;
    return record as CurrentUserRecord | undefined;
  }

  /**
   * The token of the session, as presented.
   * @throws SessionRejectedError (401, `SESSION_REQUIRED`) outside of a guarded call, and in a call without a
   * session
   */
  get token(): string {
    return (this.#admission()?.session ?? rejectOutside()).token;
  }

  /** The `X-AUTH-IV` that was presented with the token (section 5.6); `undefined` if there was none. */
  get authIv(): string | undefined {
    return this.#admission()?.session?.authIv;
  }

  /**
   * @internal Returns the presented session, with the name of its authority; `undefined` if there is none.
   * For `SessionRelay`.
   */
  findSession(): RelayedSession | undefined {
    const admission = this.#admission();
    return admission?.session && { ...admission.session, authority: admission.authority };
  }

  #admission(): Admission | undefined {
    return this.#currentCall()?.admission;
  }
}

/** Clients get the body of a 401. The message is for the developer. */
function rejectOutside(): never {
  throw Object.assign(new SessionRejectedError('SESSION_REQUIRED'), { message: OUTSIDE });
}
