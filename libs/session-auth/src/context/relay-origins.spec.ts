import { describe, expect, it } from '@jest/globals';
import { InvalidConfigurationError } from '../contract/errors.js';
import { originOf, readTargets, targetOf, type RelayTargets } from './relay-origins.js';

const read = (targets: unknown): string[] => readTargets('attachTo()', targets as RelayTargets);
const readOne = (target: unknown, more: object = {}): string[] => read({ to: [target], ...more });

function expectError(act: () => unknown, message: string): void {
  expect(act).toThrow(InvalidConfigurationError);
  expect(act).toThrow(expect.objectContaining({ message }));
}

const EXAMPLE = "Give it a scheme, a host and a port, as in 'https://payroll.internal:8443'.";

describe('the targets of a relay', () => {
  it('are origins, each for the sessions of one authority', () => {
    expect(read({ to: ['https://payroll.internal', 'https://slips.internal:8443'] })).toEqual([
      'default https://payroll.internal',
      'default https://slips.internal:8443',
    ]);
    expect(readOne('https://payroll.internal', { authority: 'partners' })).toEqual([
      'partners https://payroll.internal',
    ]);
    expect(targetOf('https://payroll.internal', 'partners')).toBe('partners https://payroll.internal');
  });

  it.each<[string | URL, string]>([
    ['https://payroll.internal/', 'https://payroll.internal'],
    ['HTTPS://Payroll.Internal:8443', 'https://payroll.internal:8443'],
    ['https://payroll.internal:443', 'https://payroll.internal'],
    ['https://p', 'https://p'],
    [new URL('https://payroll.internal'), 'https://payroll.internal'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('may be %p', (target, origin) => {
    expect(readOne(target)).toEqual([`default ${origin}`]);
  });

  it.each([
    ...[
      'https://payroll.internal/api',
      'https://payroll.internal//',
      'https://payroll.internal?',
      'https://payroll.internal#',
    ],
    ...[
      'payroll.internal',
      '//payroll.internal',
      'https:payroll.internal',
      'https:/payroll.internal',
      'https://',
      'https:///',
    ],
    ...[
      'https://payroll.internal\\evil',
      ' https://payroll.internal',
      'https://payroll.internal ',
      'https://pay roll',
      'https://pay\troll',
    ],
    ...[
      'https://payroll.internal:99999',
      'ftp://payroll.internal',
      'xhttps://payroll.internal',
      'ws://payroll.internal',
      '',
    ],
  ])('are not paths, lists or other URLs: %j', (target) => {
    expectError(
      () => readOne(target),
      `SessionRelay.attachTo(): to[0], ${JSON.stringify(target)}, is not an origin. ${EXAMPLE}`,
    );
    expect(() => readOne(target, { allowPlainHttp: true })).toThrow('is not an origin');
  });

  it.each(['https://*.internal', '*', 'https://payroll.*'])('have no wildcard: %j', (target) => {
    expectError(
      () => readOne(target),
      `SessionRelay.attachTo(): to[0], "${target}", has a wildcard. Name each origin.`,
    );
  });

  it.each([7, null, undefined, /payroll/, { href: 'https://payroll.internal' }])(
    'are strings and URLs: %p',
    (target) => {
      expectError(
        () => readOne(target),
        `SessionRelay.attachTo(): to[0] must be a string or a URL. ${EXAMPLE}`,
      );
    },
  );

  it('are named by their index where they may have a password', () => {
    const secret = 'https://ann:secret@payroll.internal';
    for (const target of [secret, new URL(secret), 'https://ann@*.internal'])
      expectError(
        () => read({ to: ['https://payroll.internal', target] }),
        `SessionRelay.attachTo(): to[1] must not hold a user or a password. ${EXAMPLE}`,
      );
  });

  it.each(['http://payroll.internal', 'http://10.0.0.7:3000', 'http://localhost.evil.com'])(
    'are encrypted beyond loopback: %j',
    (target) => {
      const message = `SessionRelay.attachTo(): to[0], "${target}", would carry sessions unencrypted. Use https, or set allowPlainHttp: true if the network encrypts them.`;
      for (const more of [{}, { allowPlainHttp: false }]) expectError(() => readOne(target, more), message);
      expect(readOne(target, { allowPlainHttp: true })).toEqual([`default ${target}`]);
    },
  );

  it.each([
    undefined,
    null,
    {},
    { to: [] },
    { to: 'https://payroll.internal' },
    { to: null },
    { to: { length: 1 } },
  ])('are a list that is not empty: %j', (targets) => {
    expectError(
      () => read(targets),
      `SessionRelay.attachTo(): to must be a list of at least one origin. ${EXAMPLE}`,
    );
  });

  it.each(['', 'a b', 7, null])('are for the sessions of an authority, whose name is not %j', (authority) => {
    const message =
      'SessionRelay.headersFor(): authority must be the name of an authority: 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or a digit. Correct it.';
    expectError(
      () => readTargets('headersFor()', { to: ['https://payroll.internal'], authority } as RelayTargets),
      message,
    );
  });
});

describe('the origin of a URL', () => {
  it.each<[unknown, string]>([
    ['https://payroll.internal/slips?of=ann#last', 'https://payroll.internal'],
    [new URL('https://payroll.internal/slips'), 'https://payroll.internal'],
    ['http://payroll.internal', 'http://payroll.internal'],
    [new URL('http://payroll.internal:8080'), 'http://payroll.internal:8080'],
    ['https://evil.com\\@payroll.internal', 'https://evil.com'],
    ['https://payroll.internal@evil.com', 'https://evil.com'],
  ])('is read from %p: %j', (url, origin) => {
    expect(originOf(url)).toBe(origin);
  });

  it.each<[unknown]>([
    ...[
      '',
      '/slips',
      'payroll.internal',
      '//payroll.internal',
      'https://',
      'ws://payroll.internal',
      'wss://payroll.internal',
    ].map((url): [string] => [url]),
    ...['ftp://payroll.internal', 'file:///etc', 'blob:https://payroll.internal/id'].map((url): [string] => [
      url,
    ]),
    [new URL('blob:https://payroll.internal/id')],
    [undefined],
    [null],
    [7],
    [{ toString: () => 'https://payroll.internal' }],
    [['https://payroll.internal']],
  ])('is none of %p', (url) => {
    expect(originOf(url)).toBeUndefined();
  });
});
