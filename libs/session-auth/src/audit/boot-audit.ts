import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { classesOf, graphqlOptionsOf, placedHandlersOf, uncalledMethodsOf } from '../guard/handlers.js';
import { findingsOf } from './findings.js';
import { type AuditContext, auditContextOf, finding, type Finding, placeOf } from './audit-context.js';
import { type Access, accessBy, auditedRuleOf, TYPE_RESOLVER } from './audited-handlers.js';

const MAX_FINDINGS = 50;
/** Applications whose warnings are logged: a further registration looks for what stops its own start. */
const audited = new WeakSet<ModulesContainer>();

interface AuditSettings {
  readonly audit: 'off' | 'warn' | 'error';
  readonly baseUrl: string;
  readonly cache?: { readonly ttlMs: number; readonly store?: unknown } | undefined;
}

/**
 * Audits an application, and logs in one line what its handlers need, and what checks their sessions.
 * @throws InvalidConfigurationError that lists the findings that stop the application
 */
export async function auditApplication(
  modules: ModulesContainer,
  config: ApplicationConfig,
  settings: AuditSettings,
): Promise<void> {
  const logger = new Logger('SessionAuth');
  const isFurther = audited.has(modules);
  audited.add(modules);
  const handlers =
    isFurther && settings.audit !== 'error' ? '' : await audit(modules, config, settings, logger);
  logger.log(`start: ${isFurther ? '' : handlers}${serviceOf(settings)}`);
}

async function audit(
  modules: ModulesContainer,
  config: ApplicationConfig,
  { audit: level }: AuditSettings,
  logger: Logger,
): Promise<string> {
  const placed = placedHandlersOf(modules);
  const hasRoutesOnly =
    graphqlOptionsOf(modules).length === 0 &&
    placed.every(({ handler: { kinds } }) => kinds.size === 1 && kinds.has('route'));
  const beyondRoutes = hasRoutesOnly ? undefined : (await import('./beyond-routes.js')).BEYOND_ROUTES;
  const context = auditContextOf(modules, config, beyondRoutes, placed);
  const findings = [
    ...findingsOf(context),
    ...uncalledRulesOf(modules),
    ...(beyondRoutes?.sharedContextsOf(modules, config) ?? []),
  ];
  const isStopping = ({ stops }: Finding): boolean => stops || level === 'error';
  for (const line of linesOf(findings.filter((each) => !isStopping(each)))) logger.warn(`audit: ${line}`);
  const stopping = linesOf(findings.filter(isStopping));
  if (stopping.length > 0)
    throw new InvalidConfigurationError(['SessionAuthModule: the audit found', ...stopping].join('\n  '));
  return handlersOf(context);
}

const ACCESSES: readonly Access[] = ['protected', 'optional', 'public', 'unguarded'];

/** In the words of the access map. */
function handlersOf(context: AuditContext): string {
  const accesses = context.handlers
    .filter(({ name }) => name !== TYPE_RESOLVER)
    .map((handler) => accessBy(auditedRuleOf(handler).kind, handler, context));
  const counts = ACCESSES.map((access) => `${accesses.filter((each) => each === access).length} ${access}`);
  return `handlers: ${counts.join(', ')}; `;
}

function serviceOf({ baseUrl, cache }: AuditSettings): string {
  const cached = cache ? `${cache.ttlMs} ms` : 'none';
  return `session service: ${new URL(baseUrl).host}; cache: ${cached}; store: ${cache?.store ? 'yes' : 'none'}`;
}

function uncalledRulesOf(modules: ModulesContainer): Finding[] {
  const classes = new Set([...modules.values()].flatMap(classesOf));
  return [...classes].flatMap((owner) =>
    uncalledMethodsOf(owner).map((name) =>
      finding(
        `${placeOf({ owner, name })} has a rule, which has no effect: it is no handler, so that no guard runs when it is called. Put the rule on the handlers that call it.`,
      ),
    ),
  );
}

function linesOf(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, MAX_FINDINGS).map(({ text }) => text);
  const more = findings.length - MAX_FINDINGS;
  return more > 0 ? [...lines, `... and ${more} more.`] : lines;
}
