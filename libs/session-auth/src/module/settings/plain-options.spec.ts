import { describe, expect, it } from '@jest/globals';
import { UserRecord } from '../../contract/record/user-record.js';
import { readSettings, type SessionAuthSettings } from './settings.js';

const REQUIRED = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };

function settingsOf(options: object): SessionAuthSettings {
  return readSettings({ ...REQUIRED, ...options });
}

function expectRefused(options: object, message: string): void {
  expect(() => settingsOf(options)).toThrow(new Error(`SessionAuthModule: ${message}.`));
}

class StaffRecord extends UserRecord {}

describe('an option that is on or off', () => {
  it('may be true and false', () => {
    expect(
      [true, false, undefined].map((forwardAuthIv) => settingsOf({ forwardAuthIv }).forwardAuthIv),
    ).toEqual([true, false, true]);
  });

  it('stops the application if it is no boolean', () => {
    for (const forwardAuthIv of [null, 0, 1, '', 'true', 'false', [], {}]) {
      expectRefused(
        { forwardAuthIv },
        'forwardAuthIv must be a boolean. Set true or false, or leave it out for true',
      );
    }
  });
});

describe('an option that is one of several words', () => {
  it.each([
    ['tokenEcho', ['ignore', 'warn', 'deny'], 'deny'],
    ['audit', ['off', 'warn', 'error'], 'warn'],
  ] as const)('may be each of them: %s', (option, words, fallback) => {
    expect([...words, undefined].map((value) => settingsOf({ [option]: value })[option])).toEqual([
      ...words,
      fallback,
    ]);
  });

  it.each([
    ['tokenEcho', "'ignore', 'warn', 'deny'. Choose one, or leave it out for 'deny'"],
    ['audit', "'off', 'warn', 'error'. Choose one, or leave it out for 'warn'"],
  ] as const)('stops the application if it is another value: %s', (option, words) => {
    for (const value of [null, true, false, 0, '', 'log', 'WARN', 'warn ', ['warn'], {}]) {
      expectRefused({ [option]: value }, `${option} must be one of ${words}`);
    }
  });
});

describe('the option apiKey', () => {
  const remedy = 'Give it the application key: 1 to 4096 visible ASCII characters, or a function';

  it.each([['k'], ['!~'], ['k'.repeat(4_096)], [() => 'key'], [async () => Promise.resolve('key')]])(
    'may be %p',
    (apiKey) => {
      expect(settingsOf({ apiKey }).apiKey).toBe(apiKey);
    },
  );

  it.each([[undefined], ['']])('stops the application if it is missing: %p', (apiKey) => {
    expectRefused({ apiKey }, `apiKey is missing. ${remedy}`);
  });

  it.each([
    [null],
    [' '],
    [' key'],
    ['key '],
    ['k y'],
    ['key\r\nX: y'],
    ['k\u00e9y'],
    ['k'.repeat(4_097)],
    [42],
    [{}],
    [['key']],
    [UserRecord],
  ])('stops the application if it cannot be sent: %p', (apiKey) => {
    expectRefused({ apiKey }, `apiKey is not a key that can be sent. ${remedy}`);
  });
});

describe('the option statusMap', () => {
  it('may have each outcome for each refusal of the interface', () => {
    const statusMap = { 400: 'unavailable', 401: 'forbidden', 403: 'unauthenticated', 404: 'forbidden' };
    expect(settingsOf({ statusMap }).statusMap).toEqual(statusMap);
  });

  it('is read once: a later change of the object has no effect', () => {
    const statusMap: Record<number, string> = { 401: 'unavailable' };
    const settings = settingsOf({ statusMap });
    statusMap[401] = 'authenticated';
    expect(settings.statusMap).toEqual({ 401: 'unavailable' });
  });

  it.each([
    [400, 'unauthenticated'],
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [404, 'unauthenticated'],
  ])('stops the application if the outcome of %d is none, and names the default', (status, fallback) => {
    for (const value of [null, '', 'authenticated', 'denied', 401, true]) {
      expectRefused(
        { statusMap: { [status]: value } },
        `statusMap.${status} must be one of 'unauthenticated', 'forbidden', 'unavailable'. Choose one, or leave it out for '${fallback}'`,
      );
    }
  });

  it('stops the application if only one of several outcomes is none', () => {
    expect(() => settingsOf({ statusMap: { 401: 'unavailable', 404: 'authenticated' } })).toThrow(
      'statusMap.404 must be one of',
    );
  });
});

describe('the option userRecord', () => {
  it('may be UserRecord and a class that extends it', () => {
    expect([UserRecord, StaffRecord].map((userRecord) => settingsOf({ userRecord }).userRecord)).toEqual([
      UserRecord,
      StaffRecord,
    ]);
  });
});

describe('the option identityFields', () => {
  it('may be a list of one name, and of several', () => {
    for (const identityFields of [['email'], ['username', 'email']]) {
      expect(settingsOf({ identityFields }).identityFields).toEqual(identityFields);
    }
  });

  it.each([
    [null],
    [[]],
    ['username'],
    [new Set(['username'])],
    [{ length: 1, 0: 'username' }],
    [['']],
    [[7]],
    [['username', '']],
    [[null, 'email']],
  ])('stops the application if it is no list of names: %p', (identityFields) => {
    expectRefused(
      { identityFields },
      "identityFields must be a list of at least one field name. Name fields of the user record, for example ['username']",
    );
  });
});

describe('the option impersonatorField', () => {
  it('is a setting as it is', () => {
    expect(settingsOf({ impersonatorField: 'display_label' }).impersonatorField).toBe('display_label');
  });
});
