import { Injectable } from '@nestjs/common';
import type { AxiosInstance } from 'axios';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { SessionContext } from './session-context.js';
import { ProvidedBy } from '../module/options/plugins.js';
import { relayFrom, sessionHeaders } from './axios-relay.js';
import { originOf, readTargets, targetOf, type RelayTargets } from './relay-origins.js';

/**
 * Forwards the session of the current call to your other services: `X-AUTH-TOKEN` and `X-AUTH-IV`, as the
 * caller presented them, and never the application key. A session goes only to the targets of the
 * authority that checked it. The plugin `sessionContext` provides it. Outside of a call with a session,
 * requests are sent without the headers.
 */
@ProvidedBy('sessionContext of nestjs-session-auth/context', 'SessionRelay')
@Injectable()
export class SessionRelay {
  readonly #session: SessionContext;
  readonly #attached = new WeakMap<AxiosInstance, Set<string>>();
  readonly #targets = new Set<string>();

  /** @internal Created by Nest. */
  constructor(session: SessionContext) {
    this.#session = session;
  }

  /**
   * Adds the session to the requests of an axios instance to the named origins, and to no others. A redirect
   * never carries it. A request that has an `X-AUTH-TOKEN` of its own keeps it. Further calls for the same
   * instance add origins.
   * @throws InvalidConfigurationError naming the invalid origin
   */
  attachTo(axios: AxiosInstance, targets: RelayTargets): void {
    if (!isAxios(axios)) {
      throw new InvalidConfigurationError(
        'SessionRelay.attachTo(): the first argument must be an axios instance, as HttpService.axiosRef is.',
      );
    }
    const attached = this.#attached.get(axios);
    const allowed = attached ?? new Set<string>();
    for (const target of readTargets('attachTo()', targets)) {
      this.#targets.add(target);
      allowed.add(target);
    }
    if (attached) return;
    this.#attached.set(axios, allowed);
    relayFrom(axios, allowed, () => this.#session.findSession());
  }

  /**
   * Returns the headers of the session for an absolute URL, for `fetch` and undici; an empty object if its
   * origin is not among the targets, or if there is no session. Without `targets`, those of {@link attachTo}
   * count. `fetch` sends these headers along on redirects, to any host: set `redirect: 'manual'`.
   * @throws InvalidConfigurationError if there are no targets, or naming the invalid origin
   */
  headersFor(url: string | URL, targets?: RelayTargets): Record<string, string> {
    const known = targets ? new Set(readTargets('headersFor()', targets)) : this.#knownTargets();
    const session = this.#session.findSession();
    return session && known.has(targetOf(originOf(url), session.authority)) ? sessionHeaders(session) : {};
  }

  /**
   * Returns the headers of the session under lower-case names, for gRPC metadata and the headers of messages;
   * an empty object without a session. You choose the receiver.
   * @param authority name of the authority whose sessions are returned; those of another are not. Default:
   * `'default'`
   */
  metadata(authority = DEFAULT_AUTHORITY): Record<string, string> {
    const session = this.#session.findSession();
    const headers = Object.entries(session?.authority === authority ? sessionHeaders(session) : {});
    return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  }

  #knownTargets(): ReadonlySet<string> {
    if (this.#targets.size > 0) return this.#targets;
    throw new InvalidConfigurationError(
      "SessionRelay.headersFor(): no origins are known. Name them, as in headersFor(url, { to: ['https://payroll.internal'] }).",
    );
  }
}

function isAxios(candidate: unknown): candidate is AxiosInstance {
  const { interceptors } = Object(candidate) as {
    readonly interceptors?: { readonly request?: { readonly use?: unknown } };
  };
  return typeof interceptors?.request?.use === 'function';
}
