import type { INestApplicationContext } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { acknowledgedReason, isMarked, KEEP_OPEN } from '../guard/access-metadata.js';
import { auditContextOf, type AuditContext } from './audit-context.js';
import { isBelowRoot, isGuarded, TYPE_RESOLVER } from './audited-handlers.js';
import { GUARD_PARTS, type GuardParts } from '../guard/guard-parts.js';
import { ruleOf } from '../guard/access-rules.js';
import type { GraphqlOptions, Handler } from '../guard/handlers.js';
import { callsOf, type Call } from './calls.js';
import { OTHER_KINDS } from './other-kinds.js';
import { routePrefixesOf } from './routes.js';
import { isReached } from './unguarded-fields.js';

export type { Call };

/**
 * The access that the session guard gives: `protected` needs a session, `optional` and `public` are those of
 * `@OptionalAuth()` and `@Public()`, and `unguarded` has no session guard.
 */
export type Access = 'protected' | 'optional' | 'public' | 'unguarded';

/** A call that an application handles, and who may make it. */
export interface AccessMapEntry extends Call {
  /** The path of the `GraphQLModule` that serves the field, such as `/admin`; absent if there is only one. */
  readonly endpoint?: string;
  /** The class and the method of the handler, such as `OpeningsController.list`. */
  readonly handler: string;
  /** Whether the call needs a session. */
  readonly access: Access;
  /** The decorators whose rules the caller must meet, such as `@Roles(hiring_manager)`. */
  readonly rules: readonly string[];
  /** The authority of `SessionAuthModule` that checks the session; absent if none does. */
  readonly authority?: string;
  /** The reason of `@AcknowledgeAudit()`; absent without it. */
  readonly acknowledged?: string;
  /** Set with `@KeepOpen()`: what the handler opens may outlive its session. */
  readonly keepsOpen?: true;
  /**
   * Whether a caller without a session reaches the handler, as far as session guards decide. Guards of the
   * application may still deny the call.
   */
  readonly isOpen: boolean;
}

/**
 * Returns every call that an application handles, with its access: routes, fields of GraphQL, messages of
 * gateways and microservices. Plain data in a fixed order, for a snapshot. Call it after `app.init()`, with
 * the global guards, prefix and versions in place.
 *
 * @example
 * ```ts
 * expect(accessMapOf(app)).toMatchSnapshot();
 * ```
 */
export function accessMapOf(app: INestApplicationContext): AccessMapEntry[] {
  const [modules, config] = [app.get(ModulesContainer), app.get(ApplicationConfig)];
  const context = auditContextOf(modules, config, OTHER_KINDS);
  const handlers = context.handlers.filter(({ name }) => name !== TYPE_RESOLVER);
  const modulePaths = routePrefixesOf(modules);
  const parts = [...modules.values()].flatMap(
    ({ providers }) => (providers.get(GUARD_PARTS)?.instance ?? []) as Partial<GuardParts>,
  );
  const servers = new Set(handlers.flatMap((handler) => handler.servers ?? []));
  const entries = handlers.flatMap((handler) => {
    const isReported = parts.some(({ reportOnly }) => reportOnly?.covers(handler.called, handler.owner));
    const access = accessOf(handler, context, isReported);
    return callsOf(handler, modulePaths, config).flatMap((call): AccessMapEntry[] =>
      call.kind === 'graphql' && servers.size > 1
        ? (handler.servers ?? []).map((server) => ({ ...call, endpoint: pathOf(server, config), ...access }))
        : [{ ...call, ...access }],
    );
  });
  return entries.sort((one, other) => compare(sortKey(one), sortKey(other)));
}

/**
 * Returns the calls that a caller without a session can make: those of `@Public()` and `@OptionalAuth()`, and
 * those that no session guard checks, even if `SessionAuthModule` applies no global guard. A guard of the
 * application may still deny them.
 */
export function findOpenHandlers(app: INestApplicationContext): AccessMapEntry[] {
  return accessMapOf(app).filter(({ isOpen }) => isOpen);
}

function accessOf(
  handler: Handler,
  context: AuditContext,
  isReported: boolean,
): Omit<AccessMapEntry, keyof Call | 'endpoint'> {
  const rule = isReported ? ({ kind: 'public' } as const) : ruleOf(handler);
  const access = accessBy(rule.kind, handler, context);
  const acknowledged = acknowledgedReason(handler.called);
  const isChecked = access === 'protected' || access === 'optional';
  return {
    handler: `${handler.owner.name}.${handler.name}`,
    access,
    rules:
      access === 'protected' && rule.kind === 'protected' ? rule.requirements.map(({ text }) => text) : [],
    ...(isChecked && { authority: (rule as { readonly authority?: string }).authority ?? 'default' }),
    ...(acknowledged !== undefined && { acknowledged }),
    ...(isMarked(KEEP_OPEN, handler.called, handler.owner) && { keepsOpen: true as const }),
    isOpen: access !== 'protected' && isReached(handler, context),
  };
}

function accessBy(rule: Exclude<Access, 'unguarded'>, handler: Handler, context: AuditContext): Access {
  if (isBelowRoot(handler) && !context.fieldsAreGuarded) return 'unguarded';
  return rule === 'public' || isGuarded(handler) ? rule : 'unguarded';
}

function pathOf({ path = '/graphql', useGlobalPrefix }: GraphqlOptions, config: ApplicationConfig): string {
  const parts = [useGlobalPrefix ? config.getGlobalPrefix() : '', path];
  return `/${parts.join('/').split('/').filter(Boolean).join('/')}`;
}

function sortKey({ kind, endpoint, call, handler }: AccessMapEntry): string {
  return [kind, endpoint, call.replace(/^(\S+) (\/.*)$/, '$2 $1'), handler].join('\n');
}

/** By code units, so that the order is the same in every locale. */
function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
