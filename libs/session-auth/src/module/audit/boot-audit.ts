import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { authorityOf } from '../../guard/access-metadata.js';
import { type GraphqlOptions, graphqlOptionsOf } from '../handlers/graphql-options.js';
import { type Handler, handlersOf } from '../handlers/handlers.js';
import { findingsOf } from './findings.js';
import type { Finding } from './ineffective-rules.js';
import { auditContextOf } from './audit-context.js';
import type { Audit } from '../options/options.js';

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

  /**
   * @throws InvalidConfigurationError that lists the findings that stop the application: rules that have no
   * effect, and with `audit: 'error'` all findings
   */
  run(): void {
    if (this.#audit === 'off') return;
    const findings =
      this.#authority === DEFAULT_AUTHORITY ? this.#auditApplication() : this.#findingsOf([this.#authority]);
    const isStopping = ({ stops }: Finding): boolean => stops || this.#audit === 'error';
    const logger = new Logger('SessionAuth');
    for (const line of linesOf(findings.filter((finding) => !isStopping(finding))))
      logger.warn(`audit: ${line}`);
    const stopping = linesOf(findings.filter(isStopping));
    if (stopping.length > 0)
      throw new InvalidConfigurationError(['SessionAuthModule: the audit found', ...stopping].join('\n  '));
  }

  /** An application is audited once: it may register the module more than once. */
  #auditApplication(): Finding[] {
    if (audited.has(this.#modules)) return [];
    audited.add(this.#modules);
    const findings = this.#findingsOf([DEFAULT_AUTHORITY, undefined]);
    const texts = contextFindings(graphqlOptionsOf(this.#modules), SINCE_NESTJS_12 in this.#config);
    findings.push(...texts.map((text) => ({ text, stops: false })));
    return findings;
  }

  /** Returns the findings for the handlers that name one of these registrations. */
  #findingsOf(authorities: readonly (string | undefined)[]): Finding[] {
    const handlers = handlersOf(this.#modules);
    const isOwn = ({ method, owner }: Handler): boolean =>
      authorities.includes(authorityOf(method) ?? authorityOf(owner));
    return findingsOf(handlers, auditContextOf(this.#modules, this.#config), isOwn);
  }
}

function linesOf(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, MAX_FINDINGS).map(({ text }) => text);
  return findings.length > MAX_FINDINGS
    ? [...lines, `... and ${findings.length - MAX_FINDINGS} more.`]
    : lines;
}

/**
 * Returns a finding for each GraphQL module whose requests share a context. NestJS 12 copies the object for
 * each request, but not with Mercurius.
 */
function contextFindings(all: readonly GraphqlOptions[], isNest12: boolean): string[] {
  const findings: string[] = [];
  for (const { context, driver } of all) {
    const isCopied = isNest12 && typeof driver === 'function' && driver.name.startsWith('Apollo');
    if (typeof context === 'object' && context !== null && !isCopied)
      findings.push(
        'GraphQLModule has one object as its context, for all requests. Give it a function: context: () => ({ ... }).',
      );
  }
  return findings;
}
