import { Injectable } from '@nestjs/common';
import type { AxiosInstance } from 'axios';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import type { SessionContext } from '../../guard/context/session-context.js';
import { relayFrom } from './axios-relay.js';
import { originOf, readOrigins, type RelayTargets } from './relay-origins.js';
import { sessionHeaders } from './session-headers.js';

/**
 * Hands the session of the current call on to other services of yours: `X-AUTH-TOKEN` and `X-AUTH-IV`, as the caller presented them, and never the
 * application key. Needs the option `asyncContext`. Outside of a call with a session there is nothing to hand on, and requests are sent without them.
 */
@Injectable()
export class SessionRelay {
  readonly #session: SessionContext;
  readonly #attached = new WeakMap<AxiosInstance, Set<string>>();
  readonly #origins = new Set<string>();

  /** @internal Created by Nest. */
  constructor(session: SessionContext) {
    this.#session = session;
  }

  /**
   * Adds the session to the requests of an axios instance to the named origins, and to no others. A redirect never carries it. A request that has an
   * `X-AUTH-TOKEN` of its own keeps it. Further calls for the same instance add origins.
   * @throws InvalidConfigurationError if `asyncContext` is off, or naming the invalid origin
   */
  attachTo(axios: AxiosInstance, targets: RelayTargets): void {
    this.#session.assertOn('SessionRelay.attachTo()');
    if (!isAxios(axios)) {
      throw new InvalidConfigurationError(
        'SessionRelay.attachTo(): the first argument must be an axios instance, as HttpService.axiosRef is.',
      );
    }
    const origins = readOrigins('attachTo()', targets);
    for (const origin of origins) this.#origins.add(origin);
    const attached = this.#attached.get(axios);
    if (attached) {
      for (const origin of origins) attached.add(origin);
      return;
    }
    const allowed = new Set(origins);
    this.#attached.set(axios, allowed);
    relayFrom(axios, allowed, () => this.#currentSession());
  }

  /**
   * Returns the headers of the session for an absolute URL, for `fetch` and undici; an empty object if its origin is not among the targets, or if there is no
   * session. Without `targets`, those of {@link attachTo} count. `fetch` sends these headers along on redirects, to any host: set `redirect: 'manual'`.
   * @throws InvalidConfigurationError if `asyncContext` is off, if there are no targets, or naming the invalid origin
   */
  headersFor(url: string | URL, targets?: RelayTargets): Record<string, string> {
    this.#session.assertOn('SessionRelay.headersFor()');
    const origins = targets ? readOrigins('headersFor()', targets) : this.#knownOrigins();
    const origin = originOf(url);
    return origin !== undefined && [...origins].includes(origin) ? sessionHeaders(this.#currentSession()) : {};
  }

  /**
   * Returns the headers of the session under lower-case names, for gRPC metadata and the headers of messages; an empty object without a session. You
   * choose the receiver.
   * @throws InvalidConfigurationError if `asyncContext` is off
   */
  metadata(): Record<string, string> {
    this.#session.assertOn('SessionRelay.metadata()');
    const headers = Object.entries(sessionHeaders(this.#currentSession()));
    return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  }

  #knownOrigins(): ReadonlySet<string> {
    if (this.#origins.size > 0) return this.#origins;
    throw new InvalidConfigurationError(
      "SessionRelay.headersFor(): no origins are known. Name them, as in headersFor(url, { to: ['https://payroll.internal'] }).",
    );
  }

  #currentSession(): SessionIdentity | undefined {
    return this.#session.findSession();
  }
}

function isAxios(candidate: unknown): candidate is AxiosInstance {
  return typeof (candidate as Partial<AxiosInstance> | undefined)?.interceptors?.request.use === 'function';
}
