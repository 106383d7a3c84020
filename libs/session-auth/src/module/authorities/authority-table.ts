import type { ExecutionContext, OnModuleInit } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { Authorities, AuthorityResolver, CallGuard } from '../../guard/authorities.js';
import { GUARD_PARTS, type GuardParts } from '../../guard/guard-parts.js';
import type { HttpRequest } from '../../guard/http/http-request.js';
import { SessionAuthGuard } from '../../guard/session-auth.guard.js';
import type { GuardedCall } from '../../guard/transport.js';
import type { Challenges } from '../../guard/http/challenges.js';
import { rejectForeignSockets } from './gateway-authorities.js';
import { nameIn } from './registration.js';
import { RegistrationSockets } from '../sockets/registration-sockets.js';
import type { WarningLog } from '../events/warning-log.js';

/** The parts of a registration that the guard, the filter of errors and `SessionSockets` use. */
interface NamedRegistration {
  readonly guard: CallGuard;
  readonly challenges: Challenges;
  readonly sockets: RegistrationSockets | undefined;
}

/** The registrations of an application that have a name. */
export class AuthorityTable implements Authorities, OnModuleInit {
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

  /** @throws InvalidConfigurationError if the sockets of a gateway and its messages belong to two registrations */
  onModuleInit(): void {
    rejectForeignSockets(this.#modules);
  }

  guardOf({ context, request }: GuardedCall, authority: string | undefined, own: CallGuard): CallGuard | undefined {
    const name = authority ?? this.#nameOf(context, request);
    return name === DEFAULT_AUTHORITY ? own : this.#find(name)?.guard;
  }

  challengesOf(name: string): Challenges | undefined {
    return this.#find(name)?.challenges;
  }

  /** Returns the sockets of the registration that the option `authority` selects for a connection; `undefined` if there is no such registration. */
  socketsOf(context: ExecutionContext, request: HttpRequest, own: RegistrationSockets): RegistrationSockets | undefined {
    const name = this.#nameOf(context, request);
    return name === DEFAULT_AUTHORITY ? own : this.#find(name)?.sockets;
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
    const sockets = module.providers.get(RegistrationSockets)?.instance as RegistrationSockets | undefined;
    named.set(name, { guard: new SessionAuthGuard(parts), challenges: parts.reader.challenges, sockets });
  }
  return named;
}
