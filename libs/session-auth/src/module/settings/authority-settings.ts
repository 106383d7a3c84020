import { AUTHORITY_NAME_FORM, DEFAULT_AUTHORITY, isAuthorityName } from '../../contract/authority-name.js';
import type { AuthorityResolver } from '../../guard/authorities.js';
import { isClass } from '../../guard/is-class.js';
import type { SessionAuthExtras } from '../options/extras.js';
import type { SessionAuthOptions } from '../options/options.js';
import { invalidOption } from './option-checks.js';

const EXTRAS = [
  'name',
  'isGlobal',
  'protectAllRoutes',
  'plugins',
] as const satisfies readonly (keyof SessionAuthExtras)[];

/** Validates the name of a registration. @throws InvalidConfigurationError */
export function readName(name: unknown): string {
  return isAuthorityName(name)
    ? name
    : invalidOption('name', `must be ${AUTHORITY_NAME_FORM}`, "Give it a name such as 'partners'");
}

/** Validates the option `authority`. @throws InvalidConfigurationError */
export function readResolver(resolver: unknown): AuthorityResolver | undefined {
  if (resolver === undefined) return undefined;
  const isFunction = typeof resolver === 'function' && resolver.constructor.name === 'Function';
  if (isFunction && !isClass(resolver)) return resolver as AuthorityResolver;
  return invalidOption(
    'authority',
    'must be a function that returns a name at once',
    'Give it (context, request) => name, or name the registration in @SessionAuthority()',
  );
}

/**
 * Rejects the option that only the registration without a name can have, in another. @throws
 * InvalidConfigurationError
 */
export function rejectDefaultOnly({ authority }: SessionAuthOptions, name: string): void {
  if (name === DEFAULT_AUTHORITY || authority === undefined) return;
  invalidOption(
    'authority',
    'is in a registration with a name',
    'Set it in the registration without a name, for all of them',
  );
}

/**
 * Rejects an extra among the options of `forRootAsync`: they are read too late for it. @throws
 * InvalidConfigurationError
 */
export function rejectMisplacedExtra(options: unknown): void {
  if (typeof options !== 'object' || options === null) return;
  const extra = EXTRAS.find((name) => name in options);
  if (extra === undefined) return;
  invalidOption(
    `options.${extra}`,
    'is among the options that forRootAsync() has received',
    `Set ${extra} beside useFactory, useClass or useExisting`,
  );
}
