import { describe, expect, it } from '@jest/globals';
import { SessionStore } from '../../contract/session-store.js';
import type { SharedTierSettings } from '../../verifier/shared-tier.js';
import { readStoreSettings } from '../store-wiring.js';
import { readSettings, type SessionAuthSettings } from './settings.js';

const REQUIRED = { baseUrl: 'https://sessions.example.com/api/', apiKey: 'application-key' };
const [SECRET, OTHER] = ['0123456789abcdef', 'f'.repeat(1_024)];

type Settings = SessionAuthSettings & { readonly shared: SharedTierSettings | undefined };

function settingsOf(options: object, name?: string): Settings {
  const settings = readSettings({ ...REQUIRED, ...options }, name);
  const { cache } = settings;
  return { ...settings, shared: cache?.store && readStoreSettings(cache.store, { ...settings, cache }) };
}

function storeWith(own: object = {}): SessionStore {
  return Object.assign(Object.create(SessionStore.prototype) as SessionStore, own);
}

/** Settings of the shared tier with a store, of an application with these other options. */
function sharedOf(
  store: object,
  { cache, ...options }: { cache?: object; [option: string]: unknown } = {},
  name?: string,
) {
  return settingsOf({ ...options, cache: { ttlMs: 10_000, ...cache, store } }, name).shared;
}

describe('the option cache', () => {
  it.each([[undefined], [false]])('is off: %p', (cache) => {
    expect(settingsOf({ cache })).toMatchObject({ cache: undefined, shared: undefined });
  });

  it('has its defaults, except for ttlMs', () => {
    const settings = settingsOf({ cache: { ttlMs: 7 } });
    expect(settings.cache).toEqual({
      ttlMs: 7,
      negativeTtlMs: 5_000,
      maxEntries: 10_000,
      refreshAheadMs: 0,
      staleIfErrorMs: 0,
    });
    expect(settings.shared).toBeUndefined();
  });

  it.each([[null], [true], [30_000], ['on'], [[]], [[30_000]], [() => ({ ttlMs: 1 })]])(
    'stops the application if it is %p',
    (cache) => {
      expect(() => settingsOf({ cache })).toThrow(
        new Error(
          'SessionAuthModule: cache must be an object with ttlMs, or false. Write cache: { ttlMs: 30_000 } to cache sessions for 30 seconds.',
        ),
      );
    },
  );
});

describe('the option cache.store', () => {
  it.each([[null], [false], ['redis://127.0.0.1'], [{}], [new Map()], [SessionStore]])(
    'stops the application if it is %p',
    (store) => {
      expect(() => settingsOf({ cache: { ttlMs: 1, store } })).toThrow(
        new Error(
          "SessionAuthModule: cache.store must be a SessionStore. Give it new RedisSessionStore({ redis }) of 'nestjs-session-auth/redis'.",
        ),
      );
    },
  );

  it('is a setting with those that are derived from other options', () => {
    const store = storeWith({ timeoutMs: 70 });
    expect(
      sharedOf(store, { timeoutMs: 400, cache: { staleIfErrorMs: 5_000, refreshAheadMs: 1_001 } }),
    ).toEqual({
      store,
      secrets: ['application-key'],
      scope: 'https://sessions.example.com/api',
      timeoutMs: 70,
      ttlMs: 10_000,
      tombstoneMs: 605_000,
      leaseMs: 400,
      graceMs: 70,
      refreshAheadMs: 1_001,
      refreshPauseMs: 251,
    });
  });

  it.each([
    [1, 10],
    [9, 10],
    [11, 11],
    [undefined, 50],
  ])(
    'keeps a lease without a heartbeat for its timeout of %p ms, and for 10 ms at least: %d ms',
    (timeoutMs, graceMs) => {
      expect(sharedOf(storeWith({ timeoutMs }))?.graceMs).toBe(graceMs);
    },
  );

  it('has entries of its own for each named authority', () => {
    const scopes = ['default', 'partners', 'suppliers'].map((name) => sharedOf(storeWith(), {}, name)?.scope);
    const root = 'https://sessions.example.com/api';
    expect(scopes).toEqual([root, `partners ${root}`, `suppliers ${root}`]);
  });
});

describe('the secret of a store', () => {
  it.each([
    [SECRET, [SECRET]],
    [OTHER, [OTHER]],
    [[SECRET], [SECRET]],
    [
      [OTHER, SECRET],
      [OTHER, SECRET],
    ],
  ])('may have 16 to 1024 characters, and may be a list', (secret, secrets) => {
    expect(sharedOf(storeWith({ secret }))?.secrets).toEqual(secrets);
    expect(sharedOf(storeWith({ secret }), { apiKey: () => 'key' })?.secrets).toEqual(secrets);
  });

  it('stops the application if it is missing and the application key is a function', () => {
    expect(() => sharedOf(storeWith(), { apiKey: () => 'key' })).toThrow(
      new Error(
        'SessionAuthModule: cache.store.secret is missing. ' +
          'With apiKey as a function, every instance needs one secret that stays when the key rotates.',
      ),
    );
  });

  it.each([
    [null],
    [''],
    [SECRET.slice(1)],
    [`${OTHER}f`],
    [1_234_567_890_123_456],
    [{ length: 16 }],
    [Buffer.from(SECRET)],
    [[]],
    [['']],
    [[SECRET, '']],
    [[SECRET, OTHER, undefined]],
    [['short', SECRET]],
    [[Array<string>(16).fill('x')]],
    [[[SECRET]]],
    [[SECRET, { length: 16 }]],
  ])('stops the application if it is %p', (secret) => {
    expect(() => sharedOf(storeWith({ secret }))).toThrow(
      new Error(
        'SessionAuthModule: cache.store.secret must be a string, or a list of strings. ' +
          'Give it 16 to 1024 random characters, the same on every instance.',
      ),
    );
  });
});
