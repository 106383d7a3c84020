import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { authorityOf } from '../../guard/access/access-metadata.js';
import { type GraphqlOptions, graphqlOptionsOf } from '../handlers/graphql-contexts.module.js';
import { type Handler, handlersOf } from '../handlers/handlers.js';
import { findingsOf } from './findings.js';
import { auditContextOf } from './audit-context.js';

/** The effect of findings of the audit: none, a warning for each, or an error that stops the bootstrap. */
export type Audit = 'off' | 'warn' | 'error';

/** A method of `ApplicationConfig` since NestJS 12. Not every module system can read the version of Nest. */
const SINCE_NESTJS_12 = 'getGlobalPreRequestHooks';
const MAX_FINDINGS = 50;
/** Audited applications: one may register the module more than once, and is audited once. */
const audited = new WeakSet<ModulesContainer>();

/** Checks at bootstrap whether the guards of an application enforce the rules that its decorators declare. */
export class BootAudit {
  readonly #modules: ModulesContainer;
  readonly #config: ApplicationConfig;
  readonly #audit: Audit;
  readonly #authority: string;

  constructor(
    modules: ModulesContainer,
    config: ApplicationConfig,
    { audit, authority }: { readonly audit: Audit; readonly authority: string },
  ) {
    this.#modules = modules;
    this.#config = config;
    this.#audit = audit;
    this.#authority = authority;
  }

  /** @throws InvalidConfigurationError that lists the findings, if there are any and `audit` is `'error'` */
  run(): void {
    if (this.#audit === 'off') return;
    const findings = this.#authority === DEFAULT_AUTHORITY ? this.#auditApplication() : this.#findingsOf([this.#authority]);
    if (findings.length === 0) return;
    const lines = findings.slice(0, MAX_FINDINGS);
    if (findings.length > MAX_FINDINGS) lines.push(`... and ${findings.length - MAX_FINDINGS} more.`);
    if (this.#audit === 'error') throw new InvalidConfigurationError(['SessionAuthModule: the audit found', ...lines].join('\n  '));
    const logger = new Logger('SessionAuth');
    for (const line of lines) logger.warn(`audit: ${line}`);
  }

  /** An application is audited once: it may register the module more than once. */
  #auditApplication(): string[] {
    if (audited.has(this.#modules)) return [];
    audited.add(this.#modules);
    const findings = this.#findingsOf([DEFAULT_AUTHORITY, undefined]);
    findings.push(...contextFindings(graphqlOptionsOf(this.#modules), SINCE_NESTJS_12 in this.#config));
    return findings;
  }

  /** Returns the findings for the handlers that name one of these registrations. */
  #findingsOf(authorities: readonly (string | undefined)[]): string[] {
    const handlers = handlersOf(this.#modules);
    const isOwn = ({ method, owner }: Handler): boolean => authorities.includes(authorityOf(method) ?? authorityOf(owner));
    return findingsOf(handlers, auditContextOf(this.#modules, this.#config), isOwn);
  }
}

/** Returns a finding for each GraphQL module whose requests share a context. NestJS 12 copies the object for each request, but not with Mercurius. */
function contextFindings(all: readonly GraphqlOptions[], isNest12: boolean): string[] {
  const findings: string[] = [];
  for (const { context, driver } of all) {
    const isCopied = isNest12 && typeof driver === 'function' && driver.name.startsWith('Apollo');
    if (typeof context === 'object' && context !== null && !isCopied)
      findings.push('GraphQLModule has one object as its context, for all requests. Give it a function: context: () => ({ ... }).');
  }
  return findings;
}
