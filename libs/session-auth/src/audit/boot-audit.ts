import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { acknowledgedReason, authorityOf } from '../guard/access-metadata.js';
import { isSessionAuthGuard } from '../guard/enhancers.js';
import { classesOf, graphqlOptionsOf, type Handler, uncalledMethodsOf } from '../guard/handlers.js';
import { findingsOf } from './findings.js';
import { finding, type Finding, placeOf } from './finding.js';
import { type AuditContext, auditContextOf } from './audit-context.js';
import { auditedHandlersOf, prototypesOf } from './audited-handlers.js';

const MAX_FINDINGS = 50;
/** Applications that a default authority has audited with 'warn': one may have several, and is warned once. */
const audited = new WeakSet<ModulesContainer>();

interface AuditSettings {
  readonly audit: 'off' | 'warn' | 'error';
  readonly authority: string;
}

/** @throws InvalidConfigurationError that lists the findings that stop the application */
export async function auditApplication(
  modules: ModulesContainer,
  config: ApplicationConfig,
  { audit, authority }: AuditSettings,
): Promise<void> {
  if (authority === DEFAULT_AUTHORITY && audit !== 'error') {
    if (audited.has(modules)) return;
    audited.add(modules);
  }
  const isStopping = ({ stops }: Finding): boolean => stops || audit === 'error';
  const findings = await findingsFor(authority, modules, config);
  const logger = new Logger('SessionAuth');
  for (const line of linesOf(findings.filter((each) => !isStopping(each)))) logger.warn(`audit: ${line}`);
  const stopping = linesOf(findings.filter(isStopping));
  if (stopping.length > 0)
    throw new InvalidConfigurationError(['SessionAuthModule: the audit found', ...stopping].join('\n  '));
}

async function findingsFor(
  authority: string,
  modules: ModulesContainer,
  config: ApplicationConfig,
): Promise<Finding[]> {
  const isDefault = authority === DEFAULT_AUTHORITY;
  const isOwn = ({ method, owner }: Handler): boolean =>
    (authorityOf(method) ?? authorityOf(owner) ?? DEFAULT_AUTHORITY) === authority;
  const placed = auditedHandlersOf(modules);
  const hasRoutesOnly =
    graphqlOptionsOf(modules).length === 0 &&
    placed.every(({ handler: { kinds } }) => kinds.size === 1 && kinds.has('route'));
  const otherKinds = hasRoutesOnly ? undefined : (await import('./other-kinds.js')).OTHER_KINDS;
  const context = auditContextOf(modules, config, otherKinds, placed);
  const findings = findingsOf(context, isOwn);
  if (!isDefault) return findings;
  return [
    ...findings,
    ...uncalledRulesOf(modules),
    ...earlierGuardsOf(context),
    ...(otherKinds?.sharedContextsOf(modules, config) ?? []),
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

/** By the text of their methods: guards that need no user, such as those that limit callers, are right there. */
function earlierGuardsOf({ handlers, guards }: AuditContext): Finding[] {
  const own = guards.findIndex(isSessionAuthGuard);
  const isNamed = handlers.some((handler) => handler.guards.some(isSessionAuthGuard));
  const earlier = own >= 0 ? guards.slice(0, own) : isNamed ? guards : [];
  return earlier.filter(readsUser).map((guard) => {
    const name = typeof guard === 'function' ? guard.name : (guard as object).constructor.name;
    return finding(
      `${name} is a guard of the whole application that runs before SessionAuthGuard, and reads a user that is not set yet. Register { provide: APP_GUARD, useExisting: SessionAuthGuard } above it, in the same module; in a host that is not yours, name SessionAuthGuard on your own handlers.`,
    );
  });
}

/** That of a request, read as a property or taken out of it: not of a session, nor a word of a comment. */
const READS_USER =
  /(?<!\bsession\??)\.user\b|\[['"]user['"]\]|\{[^{}]*\buser\b[^{}]*\}\s*[=,)]|\bcurrentUserOf\b/;

/** Whether a method of a guard, a class or an instance, has the word. Its finding may be acknowledged. */
function readsUser(guard: unknown): boolean {
  const members = prototypesOf(guard).flatMap((level) =>
    Object.entries<PropertyDescriptor>(Object.getOwnPropertyDescriptors(level)),
  );
  const reading = members
    .flatMap(([name, { value }]) => (name === 'constructor' ? [] : (value as unknown)))
    .find(
      (value): value is () => unknown => typeof value === 'function' && READS_USER.test(value.toString()),
    );
  return reading !== undefined && acknowledgedReason(reading) === undefined;
}

function linesOf(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, MAX_FINDINGS).map(({ text }) => text);
  const more = findings.length - MAX_FINDINGS;
  return more > 0 ? [...lines, `... and ${more} more.`] : lines;
}
