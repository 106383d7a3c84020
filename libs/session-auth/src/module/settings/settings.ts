import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { AuthorityResolver } from '../../guard/guard-parts.js';
import type { SessionAuthExtras, SessionAuthOptions } from '../options/options.js';
import {
  ALL_OPTIONS,
  group,
  invalidOption,
  isGroup,
  namingAuthority,
  type Option,
  type SettingsOf,
} from './option-checks.js';
import { EXTRAS, OPTIONS } from './option-defaults.js';
import { TOKEN } from './source-settings.js';

const ALL = { ...OPTIONS, token: TOKEN } satisfies Record<keyof SessionAuthOptions, Option<unknown>>;
const SCHEMA = group(ALL);

/** The validated options, with defaults applied. */
export interface SessionAuthSettings extends Omit<SettingsOf<typeof ALL>, 'authority'> {
  /** Name of the authority. */
  readonly authority: string;
  readonly resolveAuthority: AuthorityResolver | undefined;
}

/** @throws InvalidConfigurationError naming the authority, if it has a name, and the first invalid extra */
export function readExtras(given: SessionAuthExtras): Required<SessionAuthExtras> {
  const { name = DEFAULT_AUTHORITY, isGlobal, protectAllRoutes, plugins } = given;
  return namingAuthority(name, () => EXTRAS.read({ name, isGlobal, protectAllRoutes, plugins }, ALL_OPTIONS));
}

/** @throws InvalidConfigurationError naming the authority, if it has a name, and the first invalid option */
export function readSettings(options: SessionAuthOptions, name = DEFAULT_AUTHORITY): SessionAuthSettings {
  return namingAuthority(name, () => {
    rejectMisplacedExtra(options);
    const { authority: resolveAuthority, ...settings } = SCHEMA.read(options, ALL_OPTIONS);
    const remedy = 'Set it in the default authority, for all of them';
    if (name !== DEFAULT_AUTHORITY && resolveAuthority)
      invalidOption('authority', 'is in a named authority', remedy);
    return { ...settings, authority: name, resolveAuthority };
  });
}

/** The options of `forRootAsync` are read too late for an extra. @throws InvalidConfigurationError */
function rejectMisplacedExtra(options: unknown): void {
  const extra = isGroup(options) && Object.keys(EXTRAS.fallback).find((name) => name in options);
  if (typeof extra !== 'string') return;
  invalidOption(
    `options.${extra}`,
    'is among the options that forRootAsync() has received',
    `Set ${extra} beside useFactory, useClass or useExisting`,
  );
}
