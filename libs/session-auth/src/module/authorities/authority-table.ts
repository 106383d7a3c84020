import type { ExecutionContext } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import {
  type AuthorityResolver,
  type CallGuard,
  type Authorities,
  GUARD_PARTS,
  type GuardParts,
} from '../../guard/guard-parts.js';
import type { HttpRequest } from '../../guard/http-request.js';
import { SessionAuthGuard } from '../../guard/session-auth.guard.js';
import type { GuardedCall } from '../../guard/transport.js';
import type { Challenges } from '../../guard/challenges.js';
import { nameIn } from './registration.js';
import type { WarningLog } from '../events/warning-log.js';

/** A registration that has a name. */
interface NamedRegistration {
  readonly guard: CallGuard;
  readonly parts: GuardParts;
}

/** The registrations of an application that have a name. */
export class AuthorityTable implements Authorities {
  readonly arePerCall: boolean;
  readonly #modules: ModulesContainer;
  readonly #resolve: AuthorityResolver | undefined;
  readonly #log: WarningLog;
  #named: ReadonlyMap<string, NamedRegistration> | undefined;

  constructor(modules: ModulesContainer, resolve: AuthorityResolver | undefined, log: WarningLog) {
    this.arePerCall = resolve !== undefined;
    this.#modules = modules;
    this.#resolve = resolve;
    this.#log = log;
  }

  guardOf(
    { context, request }: GuardedCall,
    authority: string | undefined,
    own: CallGuard,
  ): CallGuard | undefined {
    const name = authority ?? this.#nameOf(context, request);
    return name === DEFAULT_AUTHORITY ? own : this.#find(name)?.guard;
  }

  challengesOf(name: string): Challenges | undefined {
    return this.#find(name)?.parts.reader.challenges;
  }

  partsOf(context: ExecutionContext, request: HttpRequest, own: GuardParts): GuardParts | undefined {
    const name = this.#nameOf(context, request);
    return name === DEFAULT_AUTHORITY ? own : this.#find(name)?.parts;
  }

  /** An unknown name is not logged: the client of a call may choose it. */
  #nameOf(context: ExecutionContext, request: HttpRequest): string | undefined {
    try {
      const name: unknown = (this.#resolve ?? (() => DEFAULT_AUTHORITY))(context, request);
      if (typeof name === 'string') return name;
      if (name instanceof Promise) name.catch(() => undefined);
    } catch {
      // Denied, like any value that is not a string.
    }
    this.#log.noAuthority();
    return undefined;
  }

  /** Reads the registrations at the first call: Nest creates their providers in any order. */
  #find(name: string | undefined): NamedRegistration | undefined {
    this.#named ??= namedRegistrations(this.#modules);
    return name === undefined ? undefined : this.#named.get(name);
  }
}

function namedRegistrations(modules: ModulesContainer): ReadonlyMap<string, NamedRegistration> {
  const named = new Map<string, NamedRegistration>();
  for (const module of modules.values()) {
    const name = nameIn(module);
    if (name === undefined) continue;
    const parts = module.providers.get(GUARD_PARTS)?.instance as GuardParts;
    named.set(name, { guard: new SessionAuthGuard(parts), parts });
  }
  return named;
}
