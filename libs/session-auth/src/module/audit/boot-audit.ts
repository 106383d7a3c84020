import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { type GraphqlOptions, graphqlOptionsOf } from '../graphql-contexts.module.js';
import { handlersOf } from '../handlers.js';
import { findingsOf } from './findings.js';
import { surroundingsOf } from './surroundings.js';

/** What to do with what the audit finds: nothing, a warning for each, or an error that stops the bootstrap. */
export type Audit = 'off' | 'warn' | 'error';

/** Of Nest's configuration of an application; its version is written nowhere that every module system can read. */
const SINCE_NESTJS_12 = 'getGlobalPreRequestHooks';
const MAX_FINDINGS = 50;
/** An application may register the module more than once, and is looked at once. */
const audited = new WeakSet<ModulesContainer>();

/** Looks at bootstrap whether what the decorators of an application say is what its guards do. */
export class BootAudit {
  readonly #modules: ModulesContainer;
  readonly #config: ApplicationConfig;
  readonly #audit: Audit;

  constructor(modules: ModulesContainer, config: ApplicationConfig, audit: Audit) {
    this.#modules = modules;
    this.#config = config;
    this.#audit = audit;
  }

  /** @throws InvalidConfigurationError that lists what was found, when that is to be an error */
  run(): void {
    if (this.#audit === 'off' || audited.has(this.#modules)) return;
    audited.add(this.#modules);
    const findings = findingsOf(handlersOf(this.#modules), surroundingsOf(this.#modules, this.#config));
    findings.push(...contextFindings(graphqlOptionsOf(this.#modules), SINCE_NESTJS_12 in this.#config));
    if (findings.length === 0) return;
    const told = findings.slice(0, MAX_FINDINGS);
    if (findings.length > MAX_FINDINGS) told.push(`... and ${findings.length - MAX_FINDINGS} more.`);
    if (this.#audit === 'error') throw new InvalidConfigurationError(['SessionAuthModule: the audit found', ...told].join('\n  '));
    const logger = new Logger('SessionAuth');
    for (const finding of told) logger.warn(`audit: ${finding}`);
  }
}

/** Whether requests of GraphQL share a context. NestJS 12 copies an object for each of them itself, but not for Mercurius. */
export function contextFindings(all: readonly GraphqlOptions[], isNest12: boolean): string[] {
  const findings: string[] = [];
  for (const { context, driver } of all) {
    const isCopied = isNest12 && typeof driver === 'function' && driver.name.startsWith('Apollo');
    if (typeof context === 'object' && context !== null && !isCopied)
      findings.push('GraphQLModule has one object as its context, for all requests. Give it a function: context: () => ({ ... }).');
  }
  return findings;
}
