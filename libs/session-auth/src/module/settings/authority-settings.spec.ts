import { describe, expect, it } from '@jest/globals';
import { UserRecord } from '../../contract/record/user-record.js';
import type { SessionAuthOptions } from '../options/options.js';
import { readExtras, readSettings } from './settings.js';

const REQUIRED = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
const MISPLACED = 'is in a named authority. Set it in the default authority, for all of them.';

describe('the name of an authority', () => {
  it.each([['partners'], ['default'], ['a'], ['9.b_c-D'], ['a'.repeat(64)]])('may be %p', (name) => {
    expect(readExtras({ name }).name).toBe(name);
  });

  it.each([
    [''],
    [' '],
    ['-a'],
    ['a b'],
    ['a/b'],
    ['a:b'],
    ['\u00e4'],
    ['a'.repeat(65)],
    [7],
    [null],
    [['partners']],
  ])('is not accepted if it is %p', (name) => {
    expect(() => readExtras({ name: name as string })).toThrow(
      new Error(
        `SessionAuthModule '${String(name)}': name must be 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or a digit. ` +
          "Give it a name such as 'partners'.",
      ),
    );
  });
});

describe('the option authority', () => {
  it('may be a function, and may be left out', () => {
    const authority = (): string => 'partners';
    expect(readSettings({ ...REQUIRED, authority }).resolveAuthority).toBe(authority);
    expect(readSettings(REQUIRED).resolveAuthority).toBeUndefined();
  });

  it.each([
    [null],
    ['partners'],
    [{}],
    [['partners']],
    [async () => Promise.resolve('partners')],
    [
      function* () {
        yield 'partners';
      },
    ],
    [
      async function* () {
        yield await Promise.resolve('partners');
      },
    ],
    [{ constructor: Function }],
    [UserRecord],
  ])('stops the application if it is no function that returns a name at once: %p', (authority) => {
    expect(() => readSettings({ ...REQUIRED, authority } as unknown as SessionAuthOptions)).toThrow(
      new Error(
        'SessionAuthModule: authority must be a function that returns a name at once. ' +
          'Give it (context, request) => name, or name the authority in @SessionAuthority().',
      ),
    );
  });
});

describe('an option of the default authority', () => {
  it('stops the application in a named authority', () => {
    const options = { ...REQUIRED, authority: () => 'default' };
    expect(() => readSettings(options, 'partners')).toThrow(
      new Error(`SessionAuthModule 'partners': authority ${MISPLACED}`),
    );
    expect(() => readSettings(options, 'default')).not.toThrow();
  });

  it('may be undefined in a named authority', () => {
    const options = { ...REQUIRED, authority: undefined } as unknown as SessionAuthOptions;
    expect(readSettings(options, 'partners')).toMatchObject({ resolveAuthority: undefined });
  });
});

describe('a name among the options of forRootAsync()', () => {
  it.each([['partners'], ['default'], [undefined]])(
    'stops the application, because it comes too late: %p',
    (name) => {
      expect(() => readSettings({ ...REQUIRED, name } as SessionAuthOptions)).toThrow(
        new Error(
          'SessionAuthModule: options.name is among the options that forRootAsync() has received. ' +
            'Set name beside useFactory, useClass or useExisting.',
        ),
      );
    },
  );

  it.each(['isGlobal', 'protectAllRoutes'])(
    'stops the application as much as its other extras: %s',
    (extra) => {
      expect(() => readSettings({ ...REQUIRED, [extra]: true })).toThrow(
        new Error(
          `SessionAuthModule: options.${extra} is among the options that forRootAsync() has received. ` +
            `Set ${extra} beside useFactory, useClass or useExisting.`,
        ),
      );
    },
  );
});
