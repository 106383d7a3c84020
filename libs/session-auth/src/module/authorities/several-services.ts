import type { ExecutionContext } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { isLate } from '../../contract/late-results.js';
import {
  type Authorities,
  type AuthorityResolver,
  GUARD_PARTS,
  type GuardParts,
} from '../../guard/guard-parts.js';
import { classesOf } from '../../guard/handlers.js';
import type { HttpRequest } from '../../guard/http-request.js';
import type { CauseReports } from '../../contract/causes.js';
import { authoritiesNamedBy, authorityIn, nameIn } from './authority.js';

export function checkAuthorities(modules: ModulesContainer): void {
  rejectAmbiguousNames(modules);
  rejectUnknownAuthorities(modules);
}

function rejectAmbiguousNames(modules: ModulesContainer): void {
  const all = [...modules.values()];
  const names = new Set<string>();
  for (const module of all) {
    const name = nameIn(module);
    if (name === undefined) continue;
    if (names.has(name)) {
      throw new InvalidConfigurationError(
        `SessionAuthModule has two authorities with the name '${name}'. Give each its own name, or import one DynamicModule where both are imported.`,
      );
    }
    if (authorityIn(module)?.protectAllRoutes) {
      throw new InvalidConfigurationError(
        `SessionAuthModule '${name}': protectAllRoutes is in a named authority. Set it in the default authority: its guard checks every handler by the authority that the handler names.`,
      );
    }
    names.add(name);
  }
  if (names.size === 0 || all.some((module) => authorityIn(module) && nameIn(module) === undefined)) return;
  throw new InvalidConfigurationError(
    `SessionAuthModule has no default authority, which checks the handlers without @SessionAuthority(). Leave out name: '${[...names].join("' or '")}'.`,
  );
}

function rejectUnknownAuthorities(modules: ModulesContainer): void {
  const names = new Set([...modules.values()].map(nameIn)).add(DEFAULT_AUTHORITY);
  for (const owner of new Set([...modules.values()].flatMap(classesOf))) {
    for (const { place, name } of authoritiesNamedBy(owner)) {
      if (names.has(name)) continue;
      throw new InvalidConfigurationError(
        `${place} has @SessionAuthority('${name}'), which is not registered. Import SessionAuthModule.forRoot({ name: '${name}', baseUrl, apiKey }), or correct the name.`,
      );
    }
  }
}

export class AuthorityTable implements Authorities {
  readonly arePerCall: boolean;
  readonly #modules: ModulesContainer;
  readonly #resolve: AuthorityResolver;
  readonly #causes: CauseReports;
  #named: ReadonlyMap<string, GuardParts> | undefined;

  constructor(modules: ModulesContainer, resolve: AuthorityResolver | undefined, causes: CauseReports) {
    this.arePerCall = resolve !== undefined;
    this.#modules = modules;
    this.#resolve = resolve ?? (() => DEFAULT_AUTHORITY);
    this.#causes = causes;
  }

  partsOf(context: ExecutionContext, request: HttpRequest, own: GuardParts): GuardParts | undefined {
    const name = this.#nameOf(context, request);
    return name === undefined ? undefined : this.named(name, own);
  }

  /** Reads the authorities at the first call: Nest creates their providers in any order. */
  named(name: string, own: GuardParts): GuardParts | undefined {
    this.#named ??= namedAuthorities(this.#modules);
    return name === DEFAULT_AUTHORITY ? own : this.#named.get(name);
  }

  /** An unknown name is not logged: the client of a call may choose it. */
  #nameOf(context: ExecutionContext, request: HttpRequest): string | undefined {
    try {
      const name: unknown = this.#resolve(context, request);
      if (typeof name === 'string') return name;
      isLate(name);
    } catch {
      // Denied, like any value that is not a string.
    }
    this.#causes.occurred('no authority');
    return undefined;
  }
}

function namedAuthorities(modules: ModulesContainer): ReadonlyMap<string, GuardParts> {
  const named = new Map<string, GuardParts>();
  for (const module of modules.values()) {
    const name = nameIn(module);
    if (name !== undefined) named.set(name, module.providers.get(GUARD_PARTS)?.instance as GuardParts);
  }
  return named;
}
