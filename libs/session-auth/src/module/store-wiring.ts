import type { ApiKey } from '../client/session-client.js';
import type { SessionStore } from '../contract/session-store.js';
import type { CacheSettings } from '../verifier/session-cache.js';
import type { ServiceStatusTracker } from '../verifier/service-status.js';
import type { SharedTierReports, SharedTierSettings } from '../verifier/shared-tier.js';
import type { Causes } from './events/cause-log.js';
import type { SessionAuthSettings } from './settings/settings.js';
import { invalidOption } from '../contract/errors.js';
import { MAX_DURATION_MS, MAX_TTL_MS, STORE } from './settings/option-table.js';

type StoreContext = Pick<SessionAuthSettings, 'baseUrl' | 'apiKey'> & {
  readonly cache: CacheSettings;
};

const MIN_SECRET_LENGTH = 16;
const MAX_SECRET_LENGTH = 1_024;

export function readStoreSettings(
  store: SessionStore,
  { cache, baseUrl, apiKey }: StoreContext,
): SharedTierSettings {
  const { ttlMs, staleIfErrorMs, refreshAheadMs } = cache;
  return {
    store,
    secrets: readSecrets(store.secret, apiKey),
    scope: baseUrl,
    timeoutMs: STORE.timeoutMs.read(store.timeoutMs, 'cache.store.timeoutMs'),
    ttlMs,
    // An answer may be stored for the longest timeoutMs of any instance after its call was sent.
    tombstoneMs: MAX_TTL_MS + staleIfErrorMs + MAX_DURATION_MS,
    refreshAheadMs,
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

/** Where a record was that another version of the application has stored. */
export const STORED = 'cache.store has a record of another version';

export function storeReports(causes: Causes, status: ServiceStatusTracker): SharedTierReports {
  return {
    failed: () => causes.occurred('session store unavailable'),
    answered: () => causes.recovered('session store unavailable'),
    clockDiffers: () => causes.occurred('clock differs'),
    unreadable: () => {
      status.countUnreadableMessage();
      causes.occurred('unreadable messages');
    },
    lost: (count) =>
      causes.note(
        'revocations lost',
        `${count} reached neither cache.store nor the other instances before this application closed. They accept those sessions until cache.ttlMs is over.`,
      ),
    busStateChanged: (state, reason = 'The reason is unknown.') => {
      status.setRevocationBus(state);
      if (state === 'interrupted') causes.occurred('revocation bus interrupted', '', reason);
      else causes.recovered('revocation bus interrupted');
    },
  };
}
