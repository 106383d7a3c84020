import type { ApiKey } from '../../client/session-requests.js';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { STATUS_OUTCOMES, type RefusalStatus, type StatusMap } from '../../contract/status-outcomes.js';
import type { TokenEcho } from '../../client/user-details-verdict.js';
import { isHeaderValue, MAX_API_KEY_LENGTH } from '../../contract/wire.js';
import { UserRecord, type UserRecordClass } from '../../contract/record/user-record.js';
import type { AuthorityResolver } from '../../guard/authorities.js';
import { isClass } from '../../guard/is-class.js';
import type { TokenSource } from '../../guard/token-source.js';
import type { LaneSettings } from '../../verifier/lanes.js';
import type { CacheSettings } from '../../verifier/cache-entry.js';
import type { SharedTierSettings } from '../../verifier/shared-tier.js';
import { readName, readResolver, rejectDefaultOnly, rejectMisplacedExtra } from './authority-settings.js';
import {
  booleanOption,
  enumOption,
  integerOption,
  invalidOption,
  namingRegistration,
  rejectUnknownOptions,
  readBaseUrl,
} from './option-checks.js';
import { readCacheSettings, readStoreSettings, type StoreContext } from './cache-settings.js';
import { readHttpSettings, type HttpSettings } from './http-settings.js';
import { MAX_DURATION_MS, readProtection } from './protection-settings.js';
import { readSources } from './source-settings.js';
import type { Audit, SessionAuthCacheOptions, SessionAuthOptions } from '../options/options.js';
import { DEFAULTS } from './defaults.js';

/** Injection token of the {@link SessionAuthSettings}. */
export const SETTINGS = Symbol('session-auth settings');

/** The validated options, with defaults applied. */
export interface SessionAuthSettings {
  readonly maxSignIns: number;
  /** Name of the registration. */
  readonly authority: string;
  /** Selects the registration of each call. */
  readonly resolveAuthority: AuthorityResolver | undefined;
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly sources: readonly TokenSource[];
  readonly forwardAuthIv: boolean;
  readonly protection: LaneSettings;
  readonly cache: CacheSettings | undefined;
  readonly shared: SharedTierSettings | undefined;
  readonly signInTimeoutMs: number;
  readonly signOutTimeoutMs: number;
  readonly statusMap: StatusMap;
  readonly userRecord: UserRecordClass;
  readonly identityFields: readonly string[];
  readonly impersonatorField: string | undefined;
  readonly tokenEcho: TokenEcho;
  readonly audit: Audit;
  readonly http: HttpSettings;
}

const OPTIONS = [
  ...[
    'baseUrl',
    'apiKey',
    'token',
    'forwardAuthIv',
    'timeoutMs',
    'signInTimeoutMs',
    'signOutTimeoutMs',
    'retry',
    'breaker',
  ],
  ...[
    'maxInFlight',
    'maxQueued',
    'maxSignIns',
    'cache',
    'statusMap',
    'userRecord',
    'identityFields',
    'impersonatorField',
  ],
  ...['tokenEcho', 'audit', 'http', 'authority'],
];

/**
 * Validates the options. @throws InvalidConfigurationError naming the registration, if it has a name, and the
 * first invalid option
 */
export function readSettings(
  options: SessionAuthOptions,
  authority = DEFAULT_AUTHORITY,
): SessionAuthSettings {
  return namingRegistration(authority, () => {
    const name = readName(authority);
    rejectMisplacedExtra(options);
    rejectUnknownOptions('options', options, OPTIONS);
    rejectDefaultOnly(options, name);
    return { ...read(options, name), authority: name, resolveAuthority: readResolver(options.authority) };
  });
}

function read(
  options: SessionAuthOptions,
  authority: string,
): Omit<SessionAuthSettings, 'authority' | 'resolveAuthority'> {
  const baseUrl = readBaseUrl(options.baseUrl);
  const apiKey = readApiKeyOption(options.apiKey);
  const protection = readProtection(options);
  const cache = readCacheSettings(options.cache);
  return {
    baseUrl,
    apiKey,
    sources: readSources(options.token),
    forwardAuthIv: booleanOption('forwardAuthIv', options.forwardAuthIv, DEFAULTS.forwardAuthIv),
    protection,
    cache,
    shared:
      cache &&
      readShared(options.cache, { cache, authority, baseUrl, apiKey, timeoutMs: protection.timeoutMs }),
    signInTimeoutMs: readDuration(options, 'signInTimeoutMs'),
    signOutTimeoutMs: readDuration(options, 'signOutTimeoutMs'),
    maxSignIns: integerOption('maxSignIns', options.maxSignIns, {
      min: 1,
      max: 10_000,
      fallback: DEFAULTS.maxSignIns,
    }),
    statusMap: readStatusMap(options.statusMap),
    userRecord: readRecordClass(options.userRecord),
    ...readFieldNames(options),
    tokenEcho: enumOption('tokenEcho', options.tokenEcho, ['ignore', 'warn', 'deny'], DEFAULTS.tokenEcho),
    audit: enumOption('audit', options.audit, ['off', 'warn', 'error'], DEFAULTS.audit),
    http: readHttpSettings(options.http),
  };
}

function readDuration(options: SessionAuthOptions, name: 'signInTimeoutMs' | 'signOutTimeoutMs'): number {
  return integerOption(name, options[name], { min: 1, max: MAX_DURATION_MS, fallback: DEFAULTS[name] });
}

function readShared(
  cache: SessionAuthOptions['cache'],
  context: StoreContext,
): SharedTierSettings | undefined {
  const { store } = cache as SessionAuthCacheOptions;
  return store === undefined ? undefined : readStoreSettings(store, context);
}

function readApiKeyOption(apiKey: unknown): ApiKey {
  if (typeof apiKey === 'function' && !isClass(apiKey)) return apiKey as ApiKey;
  if (isHeaderValue(apiKey, MAX_API_KEY_LENGTH)) return apiKey;
  const isMissing = apiKey === undefined || apiKey === '';
  return invalidOption(
    'apiKey',
    isMissing ? 'is missing' : 'is not a key that can be sent',
    `Give it the application key: 1 to ${MAX_API_KEY_LENGTH} visible ASCII characters, or a function`,
  );
}

function readStatusMap(statusMap: StatusMap = {}): StatusMap {
  rejectUnknownOptions('statusMap', statusMap, ['400', '401', '403', '404']);
  const meanings = ['unauthenticated', 'forbidden', 'unavailable'] as const;
  for (const [status, meaning] of Object.entries(statusMap)) {
    enumOption(`statusMap.${status}`, meaning, meanings, STATUS_OUTCOMES[Number(status) as RefusalStatus]);
  }
  return { ...statusMap } satisfies Partial<Record<RefusalStatus, unknown>>;
}

function readRecordClass(record: unknown = UserRecord): UserRecordClass {
  if (record === UserRecord || (typeof record === 'function' && record.prototype instanceof UserRecord))
    return record as UserRecordClass;
  return invalidOption(
    'userRecord',
    'must be a class that extends UserRecord',
    'Declare your fields in such a class, or leave it out',
  );
}

/**
 * Validates the options that name fields of the user record. `impersonatorField` is checked with the class:
 * see `readUserWith`.
 */
function readFieldNames({
  identityFields,
  impersonatorField,
}: SessionAuthOptions): Pick<SessionAuthSettings, 'identityFields' | 'impersonatorField'> {
  return { identityFields: readIdentityFields(identityFields), impersonatorField };
}

function readIdentityFields(fields: unknown = DEFAULTS.identityFields): readonly string[] {
  const valid =
    Array.isArray(fields) &&
    fields.length > 0 &&
    fields.every((field) => typeof field === 'string' && field !== '');
  if (valid) return fields as string[];
  return invalidOption(
    'identityFields',
    'must be a list of at least one field name',
    "Name fields of the user record, for example ['username']",
  );
}
