import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { classesOf, graphqlOptionsOf, placedHandlersOf, uncalledMethodsOf } from '../guard/handlers.js';
import { findingsOf } from './findings.js';
import { auditContextOf, finding, type Finding, placeOf } from './audit-context.js';

const MAX_FINDINGS = 50;
/** Applications whose warnings are logged: a further registration looks for what stops its own start. */
const audited = new WeakSet<ModulesContainer>();

interface AuditSettings {
  readonly audit: 'off' | 'warn' | 'error';
}

/** @throws InvalidConfigurationError that lists the findings that stop the application */
export async function auditApplication(
  modules: ModulesContainer,
  config: ApplicationConfig,
  { audit }: AuditSettings,
): Promise<void> {
  if (audited.has(modules) && audit !== 'error') return;
  audited.add(modules);
  const isStopping = ({ stops }: Finding): boolean => stops || audit === 'error';
  const findings = await findingsFor(modules, config);
  const logger = new Logger('SessionAuth');
  for (const line of linesOf(findings.filter((each) => !isStopping(each)))) logger.warn(`audit: ${line}`);
  const stopping = linesOf(findings.filter(isStopping));
  if (stopping.length > 0)
    throw new InvalidConfigurationError(['SessionAuthModule: the audit found', ...stopping].join('\n  '));
}

async function findingsFor(modules: ModulesContainer, config: ApplicationConfig): Promise<Finding[]> {
  const placed = placedHandlersOf(modules);
  const hasRoutesOnly =
    graphqlOptionsOf(modules).length === 0 &&
    placed.every(({ handler: { kinds } }) => kinds.size === 1 && kinds.has('route'));
  const beyondRoutes = hasRoutesOnly ? undefined : (await import('./beyond-routes.js')).BEYOND_ROUTES;
  return [
    ...findingsOf(auditContextOf(modules, config, beyondRoutes, placed)),
    ...uncalledRulesOf(modules),
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

function linesOf(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, MAX_FINDINGS).map(({ text }) => text);
  const more = findings.length - MAX_FINDINGS;
  return more > 0 ? [...lines, `... and ${more} more.`] : lines;
}
