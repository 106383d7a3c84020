import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sessionKeysOf, tokenKeyOf } from './session-identity.js';

describe('the key of a session', () => {
  const text = fc.string({ unit: fc.constantFrom('1', ':', '\\', 'n', '!', '~', 'a'), minLength: 1, maxLength: 6 });
  const identity = fc.record({ token: text, authIv: fc.option(text, { nil: undefined }) });

  it('is the same for the same identity and another for every other', () => {
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const same = one.token === other.token && one.authIv === other.authIv;
        expect(sessionKeysOf(one).sessionKey === sessionKeysOf(other).sessionKey).toBe(same);
      }),
    );
  });

  it('tells apart what is the same text when put together', () => {
    expect(sessionKeysOf({ token: 'ab', authIv: 'c' }).sessionKey).not.toBe(sessionKeysOf({ token: 'a', authIv: 'bc' }).sessionKey);
    expect(sessionKeysOf({ token: '1:a', authIv: undefined }).sessionKey).not.toBe(sessionKeysOf({ token: '1', authIv: 'a' }).sessionKey);
  });

  it('leads from every IV to the one key of its token', () => {
    expect(sessionKeysOf({ token: 'a', authIv: 'b' }).tokenKey).toBe(tokenKeyOf('a'));
    expect(sessionKeysOf({ token: 'a', authIv: undefined })).toEqual({ tokenKey: tokenKeyOf('a'), sessionKey: tokenKeyOf('a') });
  });

  it('does not hold the token', () => {
    expect(tokenKeyOf('canary-token')).not.toContain('canary');
  });
});
