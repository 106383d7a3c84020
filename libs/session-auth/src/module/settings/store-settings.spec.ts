import { describe, expect, it } from '@jest/globals';
import { SessionStore } from '../../contract/session-store.js';
import type { SessionAuthOptions } from '../options/options.js';
import { readStoreSettings } from '../store-wiring.js';
import { readSettings } from './settings.js';

const REQUIRED = { baseUrl: 'https://sessions.example.com/api/', apiKey: 'application-key' };
const [SECRET, OTHER] = ['0123456789abcdef', 'f'.repeat(1_024)];

function storeWith(own: object = {}): SessionStore {
  return Object.assign(Object.create(SessionStore.prototype) as SessionStore, own);
}

/** Settings of the shared tier with a store, of an application with these other options. */
function sharedOf(store: object, { cache, ...options }: { cache?: object; [option: string]: unknown } = {}) {
  const given = { ...REQUIRED, ...options, cache: { ttlMs: 10_000, ...cache, store } };
  const settings = readSettings(given as SessionAuthOptions);
  return settings.cache && readStoreSettings(store as SessionStore, { ...settings, cache: settings.cache });
}

describe('the option cache.store', () => {
  it('is a setting with those that are derived from other options', () => {
    const store = storeWith({ timeoutMs: 70 });
    expect(sharedOf(store, { cache: { staleIfErrorMs: 5_000, refreshAheadMs: 1_001 } })).toEqual({
      store,
      secrets: ['application-key'],
      scope: 'https://sessions.example.com/api',
      timeoutMs: 70,
      ttlMs: 10_000,
      tombstoneMs: 605_000,
      refreshAheadMs: 1_001,
    });
  });
});

describe('the timeout of a store', () => {
  it.each([0, 1_001, '50'])('stops the application if it is %p', (timeoutMs) => {
    expect(() => sharedOf(storeWith({ timeoutMs }))).toThrow(
      new Error(
        'SessionAuthModule: cache.store.timeoutMs must be an integer from 1 to 1000. Set it within that range, or leave it out for 50.',
      ),
    );
  });

  it('may be from 1 to 1000 ms', () => {
    expect([1, 1_000].map((timeoutMs) => sharedOf(storeWith({ timeoutMs }))?.timeoutMs)).toEqual([1, 1_000]);
  });
});

describe('the secret of a store', () => {
  it('may have 16 to 1024 characters, and may be a list', () => {
    for (const secret of [SECRET, [OTHER, SECRET]])
      for (const apiKey of ['key', () => 'key'])
        expect(sharedOf(storeWith({ secret }), { apiKey })?.secrets).toEqual([secret].flat());
  });

  it('stops the application if it is missing and the application key is a function', () => {
    expect(() => sharedOf(storeWith(), { apiKey: () => 'key' })).toThrow(
      new Error(
        'SessionAuthModule: cache.store.secret is missing. ' +
          'With apiKey as a function, every instance needs one secret that stays when the key rotates.',
      ),
    );
  });

  it.each([[SECRET.slice(1)], [`${OTHER}f`], [{ length: 16 }], [[]], [[SECRET, undefined]]])(
    'stops the application if it is %p',
    (secret) => {
      expect(() => sharedOf(storeWith({ secret }))).toThrow(
        new Error(
          'SessionAuthModule: cache.store.secret must be a string, or a list of strings. ' +
            'Give it 16 to 1024 random characters, the same on every instance.',
        ),
      );
    },
  );
});
