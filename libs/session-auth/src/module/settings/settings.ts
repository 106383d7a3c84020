import { type CacheSettings, refreshPauseMs } from '../../verifier/session-cache.js';
import type { ApiKey } from '../../client/session-client.js';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { SessionStore } from '../../contract/session-store.js';
import type { AuthorityResolver } from '../../guard/guard-parts.js';
import type { SharedTierSettings } from '../../verifier/shared-tier.js';
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
import { EXTRAS, MAX_DURATION_MS, MAX_TTL_MS, OPTIONS, STORE } from './schema.js';
import { TOKEN } from './source-settings.js';

const ALL = { ...OPTIONS, token: TOKEN } satisfies Record<keyof SessionAuthOptions, Option<unknown>>;
const SCHEMA = group(ALL);

/** The validated options, with defaults applied. */
export interface SessionAuthSettings extends Omit<SettingsOf<typeof ALL>, 'authority'> {
  /** Name of the authority. */
  readonly authority: string;
  /** Selects the authority of each call. */
  readonly resolveAuthority: AuthorityResolver | undefined;
  readonly shared: SharedTierSettings | undefined;
}

/**
 * Validates the options. @throws InvalidConfigurationError naming the authority, if it has a name, and the
 * first invalid option
 */
export function readSettings(
  options: SessionAuthOptions,
  name = DEFAULT_AUTHORITY,
  extras: SessionAuthExtras = {},
): SessionAuthSettings {
  return namingAuthority(name, () => {
    EXTRAS.read({ ...extras, name }, ALL_OPTIONS);
    rejectMisplacedExtra(options);
    const { authority: resolveAuthority, ...settings } = SCHEMA.read(options, ALL_OPTIONS);
    if (name !== DEFAULT_AUTHORITY && resolveAuthority)
      invalidOption(
        'authority',
        'is in a named authority',
        'Set it in the default authority, for all of them',
      );
    const { cache } = settings;
    const own = { ...settings, authority: name, resolveAuthority };
    return { ...own, shared: cache?.store && readStoreSettings(cache.store, { ...own, cache }) };
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

/** Other settings from which those of the shared tier are derived. */
interface StoreContext {
  readonly authority: string;
  readonly cache: CacheSettings;
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly timeoutMs: number;
}

const MIN_SECRET_LENGTH = 16;
const MAX_SECRET_LENGTH = 1_024;
/** Minimum grace period, in milliseconds. A process that is busy for less is not considered crashed. */
const MIN_GRACE_MS = 10;

/** Derives the settings of the shared tier. @throws InvalidConfigurationError naming the invalid option */
export function readStoreSettings(
  store: SessionStore,
  { cache, authority, baseUrl, apiKey, timeoutMs }: StoreContext,
): SharedTierSettings {
  const { ttlMs, staleIfErrorMs, refreshAheadMs } = cache;
  const storeTimeoutMs = STORE.timeoutMs.read(store.timeoutMs, 'cache.store.timeoutMs');
  return {
    store,
    secrets: readSecrets(store.secret, apiKey),
    // Authorities with one secret and one baseUrl may have different application keys. A name has no space.
    scope: authority === DEFAULT_AUTHORITY ? baseUrl : `${authority} ${baseUrl}`,
    timeoutMs: storeTimeoutMs,
    ttlMs,
    // An answer may be stored for the longest timeoutMs of any instance after its call was sent.
    tombstoneMs: MAX_TTL_MS + staleIfErrorMs + MAX_DURATION_MS,
    leaseMs: timeoutMs,
    graceMs: Math.max(MIN_GRACE_MS, storeTimeoutMs),
    refreshAheadMs,
    refreshPauseMs: Math.ceil(refreshPauseMs(refreshAheadMs)),
  };
}

function readSecrets(secret: SessionStore['secret'], apiKey: ApiKey): readonly [string, ...string[]] {
  if (secret === undefined) {
    if (typeof apiKey === 'string') return [apiKey];
    invalidOption(
      'cache.store.secret',
      'is missing',
      'With apiKey as a function, every instance needs one secret that stays when the key rotates',
    );
  }
  const [first, ...others] = [secret].flat() as unknown[];
  if (isSecret(first) && others.every(isSecret)) return [first, ...others];
  return invalidOption(
    'cache.store.secret',
    'must be a string, or a list of strings',
    `Give it ${MIN_SECRET_LENGTH} to ${MAX_SECRET_LENGTH} random characters, the same on every instance`,
  );
}

function isSecret(secret: unknown): secret is string {
  return (
    typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH && secret.length <= MAX_SECRET_LENGTH
  );
}
