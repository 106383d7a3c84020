import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { GuardParts, Registrations } from '../guard/guard-parts.js';
import {
  classesOf,
  graphqlOptionsOf,
  type Handler,
  placedHandlersOf,
  uncalledMethodsOf,
} from '../guard/handlers.js';
import { findingsOf } from './findings.js';
import { auditContextOf, finding, type Finding, placeOf } from './audit-context.js';
import { auditedRuleOf, isGuarded } from './audited-handlers.js';

const MAX_FINDINGS = 50;
/** Applications that a registration has audited: another one audits its own handlers only. */
const audited = new WeakSet<ModulesContainer>();

interface AuditSettings {
  readonly audit: 'off' | 'warn' | 'error';
}

/**
 * @param parts those of the registration
 * @throws InvalidConfigurationError that lists the findings that stop the application
 */
export async function auditApplication(
  modules: ModulesContainer,
  config: ApplicationConfig,
  { audit }: AuditSettings,
  parts?: GuardParts,
): Promise<void> {
  const isStopping = ({ stops }: Finding): boolean => stops || audit === 'error';
  const findings = await findingsFor(modules, config, parts);
  const logger = new Logger('SessionAuth');
  for (const line of linesOf(findings.filter((each) => !isStopping(each)))) logger.warn(`audit: ${line}`);
  const stopping = linesOf(findings.filter(isStopping));
  if (stopping.length > 0)
    throw new InvalidConfigurationError(['SessionAuthModule: the audit found', ...stopping].join('\n  '));
}

async function findingsFor(
  modules: ModulesContainer,
  config: ApplicationConfig,
  parts: GuardParts | undefined,
): Promise<Finding[]> {
  const registrations = parts?.registrations;
  const isFirst = !(registrations && audited.has(modules));
  audited.add(modules);
  const isOwn = ({ owner }: Handler): boolean =>
    !registrations || (registrations.partsOf(owner) ?? (isFirst && parts)) === parts;
  const placed = placedHandlersOf(modules);
  const hasRoutesOnly =
    graphqlOptionsOf(modules).length === 0 &&
    placed.every(({ handler: { kinds } }) => kinds.size === 1 && kinds.has('route'));
  const beyondRoutes = hasRoutesOnly ? undefined : (await import('./beyond-routes.js')).BEYOND_ROUTES;
  const context = auditContextOf(modules, config, beyondRoutes, placed);
  const findings = findingsOf(context, isOwn);
  if (!isFirst) return findings;
  return [
    ...findings,
    ...uncalledRulesOf(modules),
    ...context.handlers.flatMap((handler) => unplaced(handler, registrations) ?? []),
    ...(beyondRoutes?.sharedContextsOf(modules, config) ?? []),
  ];
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

function unplaced(handler: Handler, registrations: Registrations | undefined): Finding | undefined {
  if (!registrations || registrations.partsOf(handler.owner) || !isGuarded(handler)) return undefined;
  return auditedRuleOf(handler).kind === 'public'
    ? undefined
    : finding(
        `${placeOf(handler)} is in a module without a registration of SessionAuthModule: every call is denied. Import one there, or leave out isGlobal: false in one.`,
      );
}

function linesOf(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, MAX_FINDINGS).map(({ text }) => text);
  const more = findings.length - MAX_FINDINGS;
  return more > 0 ? [...lines, `... and ${more} more.`] : lines;
}
