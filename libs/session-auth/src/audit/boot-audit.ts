import { Logger } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { acknowledgedReason, authorityOf } from '../guard/access-metadata.js';
import { isSessionAuthGuard } from '../guard/enhancers.js';
import type { GuardParts, Registrations } from '../guard/guard-parts.js';
import { classesOf, graphqlOptionsOf, type Handler, uncalledMethodsOf } from '../guard/handlers.js';
import { findingsOf } from './findings.js';
import { finding, type Finding, placeOf } from './finding.js';
import { type AuditContext, auditContextOf } from './audit-context.js';
import { auditedHandlersOf, auditedRuleOf, isGuarded, prototypesOf } from './audited-handlers.js';

const MAX_FINDINGS = 50;
/** Applications that a registration has audited: another one audits its own handlers only. */
const audited = new WeakSet<ModulesContainer>();

interface AuditSettings {
  readonly audit: 'off' | 'warn' | 'error';
  readonly authority: string;
}

/**
 * @param parts those of the registration
 * @throws InvalidConfigurationError that lists the findings that stop the application
 */
export async function auditApplication(
  modules: ModulesContainer,
  config: ApplicationConfig,
  { audit, authority }: AuditSettings,
  parts?: GuardParts,
): Promise<void> {
  const isStopping = ({ stops }: Finding): boolean => stops || audit === 'error';
  const findings = await findingsFor(authority, modules, config, parts);
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
  parts: GuardParts | undefined,
): Promise<Finding[]> {
  const isDefault = authority === DEFAULT_AUTHORITY;
  const registrations = isDefault ? parts?.registrations : undefined;
  const isFirst = isDefault && !(registrations && audited.has(modules));
  if (isDefault) audited.add(modules);
  const isOwn = ({ method, owner }: Handler): boolean =>
    (authorityOf(method) ?? authorityOf(owner) ?? DEFAULT_AUTHORITY) === authority &&
    (!registrations || (registrations.partsOf(owner) ?? (isFirst && parts)) === parts);
  const placed = auditedHandlersOf(modules);
  const hasRoutesOnly =
    graphqlOptionsOf(modules).length === 0 &&
    placed.every(({ handler: { kinds } }) => kinds.size === 1 && kinds.has('route'));
  const otherKinds = hasRoutesOnly ? undefined : (await import('./other-kinds.js')).OTHER_KINDS;
  const context = auditContextOf(modules, config, otherKinds, placed);
  const findings = findingsOf(context, isOwn);
  if (!isFirst) return findings;
  return [
    ...findings,
    ...uncalledRulesOf(modules),
    ...context.handlers.flatMap((handler) => unplaced(handler, registrations) ?? []),
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

function unplaced(handler: Handler, registrations: Registrations | undefined): Finding | undefined {
  if (!registrations || registrations.partsOf(handler.owner) || !isGuarded(handler)) return undefined;
  const { kind, authority = DEFAULT_AUTHORITY } = { authority: undefined, ...auditedRuleOf(handler) };
  return kind === 'public' || authority !== DEFAULT_AUTHORITY
    ? undefined
    : finding(
        `${placeOf(handler)} is in a module without a registration of SessionAuthModule: every call is denied. Import one there, or leave out isGlobal: false in one.`,
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
