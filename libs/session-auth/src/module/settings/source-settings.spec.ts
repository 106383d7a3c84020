import { runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { UserRecord } from '../../contract/record/user-record.js';
import {
  fromBearer,
  fromCookie,
  fromHeader,
  fromPayload,
  type TokenSource,
} from '../../guard/token-source.js';
import { readSettings } from './settings.js';

function readSources(token: unknown): readonly TokenSource[] {
  return readSettings({
    baseUrl: 'https://sessions.example.com',
    apiKey: 'key',
    token: token as TokenSource,
  }).token;
}

function expectRefused(token: unknown, message: string): void {
  expect(() => readSources(token)).toThrow(new Error(`SessionAuthModule: token ${message}.`));
}

/** Their texts begin like that of a class, and have one within. */
const METHODS: TokenSource[] = Object.values({
  classToken(): string {
    return 'class {';
  },
});

describe('the option token', () => {
  it.each<[TokenSource]>([
    [fromHeader('X_Auth.Token~1')],
    [fromBearer()],
    [fromCookie('__Host-session')],
    [fromCookie('session', { trustedOrigins: ['https://app.example.com'] })],
    [fromPayload('my token')],
    [() => undefined],
    ...METHODS.map((source): [TokenSource] => [source]),
    [Object.assign(() => 'token', { header: 'X-Own' })],
    [Object.assign(() => 'token', { header: undefined }) as unknown as TokenSource],
  ])('may be one source, and a list of sources: %p', (source) => {
    const other = fromBearer();
    expect(readSources(source)).toEqual([source]);
    expect(readSources([other, source])).toEqual([other, source]);
  });

  it.each([
    [null],
    ['x-auth-token'],
    [7],
    [{}],
    [[]],
    [['x-auth-token']],
    [[fromBearer(), null]],
    [[null, fromBearer()]],
    [[[fromBearer()]]],
  ])('stops the application if it is no source: %p', (token) => {
    expectRefused(
      token,
      "must be a token source, or a list of them. Give it fromHeader('x-auth-token'), fromBearer(), fromCookie(name) or your own function",
    );
  });

  it('stops the application if it is a class', () => {
    for (const token of [UserRecord, [fromBearer(), UserRecord], runInThisContext('(class{})')]) {
      expect(() => readSources(token as unknown as TokenSource)).toThrow(
        'token must be a token source, or a list of them.',
      );
    }
  });

  it.each([[fromHeader], [fromBearer], [fromCookie], [fromPayload]])(
    'stops the application if it is the function %p, not called',
    (create) => {
      const message = `has ${create.name} itself, which is no source. Call it: ${create.name}(...)`;
      expectRefused(create, message);
      expectRefused([() => undefined, create], message);
    },
  );

  it.each([
    [async () => Promise.resolve('token')],
    [
      function* () {
        yield 'token';
      },
    ],
    [
      async function* () {
        yield await Promise.resolve('token');
      },
    ],
  ])('stops the application if a source is asynchronous: %p', (source) => {
    expectRefused(source, 'has an asynchronous source. Use a function that returns the token at once');
  });

  it.each([['x-auth\nx: y'], [''], ['x auth'], [null], [7], [['x-auth']]])(
    'stops the application if the header of a source is none: %p',
    (header) => {
      expectRefused(
        Object.assign(() => 'token', { header }),
        'has a source whose header is not the name of a header. Set it to the one header that the source reads',
      );
    },
  );
});
