import { describe, expect, it } from '@jest/globals';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { SessionStore } from '../../contract/session-store.js';
import type { SharedTierSettings } from '../../verifier/shared-tier.js';
import { readStoreSettings } from '../store-wiring.js';
import { readSettings, type SessionAuthSettings } from './settings.js';

const within = (owner: string, others: object = {}) => {
  return (name: string) =>
    (value: unknown): object => ({ [owner]: { ...others, [name]: value } });
};
const [retry, breaker, http] = [within('retry'), within('breaker', { pauseMs: 2_000 }), within('http')];
const cache = within('cache', { ttlMs: 10_000 });

function storeWith(timeoutMs: unknown): SessionStore {
  return Object.assign(Object.create(SessionStore.prototype) as SessionStore, { timeoutMs });
}

type Row = [
  option: string,
  min: number,
  max: number,
  /** The default; `undefined` if the option is required. */
  fallback: number | undefined,
  /** Returns options with a value of this option. */
  optionsWith: (value: unknown) => object,
  /** Returns the setting that the option becomes. */
  settingIn: (settings: Settings) => unknown,
];

const LIMITS: Row[] = [
  ['timeoutMs', 1, 300_000, 3_000, (timeoutMs) => ({ timeoutMs }), (set) => set.timeoutMs],
  [
    'signInTimeoutMs',
    1,
    300_000,
    10_000,
    (signInTimeoutMs) => ({ signInTimeoutMs }),
    (set) => set.signInTimeoutMs,
  ],
  [
    'signOutTimeoutMs',
    1,
    300_000,
    5_000,
    (signOutTimeoutMs) => ({ signOutTimeoutMs }),
    (set) => set.signOutTimeoutMs,
  ],
  ['maxInFlight', 1, 10_000, 128, (maxInFlight) => ({ maxInFlight }), (set) => set.maxInFlight],
  ['maxQueued', 0, 100_000, 1_024, (maxQueued) => ({ maxQueued }), (set) => set.maxQueued],
  ['maxSignIns', 1, 10_000, 32, (maxSignIns) => ({ maxSignIns }), (set) => set.maxSignIns],
  ['retry.maxAttempts', 1, 10, 2, retry('maxAttempts'), (set) => set.retry.maxAttempts],
  ['breaker.windowMs', 10, 300_000, 10_000, breaker('windowMs'), (set) => set.breaker?.windowMs],
  ['breaker.minimumCalls', 1, 1_000_000, 20, breaker('minimumCalls'), (set) => set.breaker?.minimumCalls],
  ['breaker.pauseMs', 1, 120_000, 1_000, breaker('pauseMs'), (set) => set.breaker?.pauseMs],
  ['breaker.maxPauseMs', 2_000, 120_000, 30_000, breaker('maxPauseMs'), (set) => set.breaker?.maxPauseMs],
  [
    'http.maxResponseBytes',
    1,
    16_777_216,
    65_536,
    http('maxResponseBytes'),
    (set) => set.http.maxResponseBytes,
  ],
  ['http.maxTokenLength', 1, 65_536, 4_096, http('maxTokenLength'), (set) => set.http.maxTokenLength],
  ['cache.ttlMs', 1, 300_000, undefined, cache('ttlMs'), (set) => set.cache?.ttlMs],
  ['cache.negativeTtlMs', 0, 300_000, 5_000, cache('negativeTtlMs'), (set) => set.cache?.negativeTtlMs],
  ['cache.maxEntries', 1, 10_000_000, 10_000, cache('maxEntries'), (set) => set.cache?.maxEntries],
  ['cache.refreshAheadMs', 0, 9_999, 0, cache('refreshAheadMs'), (set) => set.cache?.refreshAheadMs],
  ['cache.staleIfErrorMs', 0, 86_400_000, 0, cache('staleIfErrorMs'), (set) => set.cache?.staleIfErrorMs],
  [
    'cache.store.timeoutMs',
    1,
    1_000,
    50,
    (ms) => cache('store')(storeWith(ms)),
    (set) => set.shared?.timeoutMs,
  ],
];

type Settings = SessionAuthSettings & { readonly shared: SharedTierSettings | undefined };

function settingsOf(options: object): Settings {
  const settings = readSettings({ baseUrl: 'https://sessions.example.com', apiKey: 'key', ...options });
  const { cache } = settings;
  return { ...settings, shared: cache?.store && readStoreSettings(cache.store, { ...settings, cache }) };
}

function refusalOf(options: object): unknown {
  try {
    return settingsOf(options);
  } catch (error) {
    return error;
  }
}

const NO_INTEGERS = [1.5, NaN, Infinity, -Infinity, '10', '', null, true, 10n, [10], {}, new Date(10)];

describe.each(LIMITS)('the option %s', (option, min, max, fallback, optionsWith, settingIn) => {
  const remedy = fallback === undefined ? '' : `, or leave it out for ${fallback}`;
  const message = `SessionAuthModule: ${option} must be an integer from ${min} to ${max}. Set it within that range${remedy}.`;

  it('may have its minimum and its maximum', () => {
    expect([min, max].map((value) => settingIn(settingsOf(optionsWith(value))))).toEqual([min, max]);
  });

  it.each([[min - 1], [max + 1], ...NO_INTEGERS.map((value) => [value])])(
    'stops the application if it is %p',
    (value) => {
      const error = refusalOf(optionsWith(value));
      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect(error).toHaveProperty('message', message);
    },
  );
});

describe('an integer option that is left out', () => {
  const optional = LIMITS.filter(([, , , fallback]) => fallback !== undefined);

  it.each(optional)('has its default: %s', (option, _min, _max, fallback, optionsWith, settingIn) => {
    // The other rows of `breaker` have a pause.
    const absent = option === 'breaker.pauseMs' ? { breaker: {} } : optionsWith(undefined);
    expect(settingIn(settingsOf(absent))).toBe(fallback);
  });

  it.each([
    [
      'cache.ttlMs',
      cache('ttlMs')(undefined),
      'is missing. Set how many milliseconds a session that ended elsewhere may still work here.',
    ],
  ])('stops the application, because it has none: %s', (option, options, problem) => {
    expect(refusalOf(options)).toHaveProperty('message', `SessionAuthModule: ${option} ${problem}`);
  });
});

describe('the bounds of an option that depend on another', () => {
  it.each([
    [{ cache: { ttlMs: 1, refreshAheadMs: 1 } }, 'cache.refreshAheadMs must be an integer from 0 to 0.'],
    [{ breaker: { maxPauseMs: 999 } }, 'breaker.maxPauseMs must be an integer from 1000 to 120000.'],
    [
      { breaker: { pauseMs: 40_000, maxPauseMs: 39_999 } },
      'breaker.maxPauseMs must be an integer from 40000 to 120000.',
    ],
  ])('are in the message: %j', (options, problem) => {
    expect(refusalOf(options)).toHaveProperty(
      'message',
      expect.stringContaining(`SessionAuthModule: ${problem}`),
    );
  });

  it('hold for its default as well', () => {
    expect(settingsOf({ breaker: { pauseMs: 40_000 } }).breaker?.maxPauseMs).toBe(40_000);
    expect(settingsOf({ breaker: { pauseMs: 30_000 } }).breaker?.maxPauseMs).toBe(30_000);
  });
});
