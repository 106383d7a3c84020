import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sessionKeysOf, tokenKeyOf } from './session-identity.js';

describe('the key of a session', () => {
  const text = fc.string({
    unit: fc.constantFrom('1', ':', '\\', 'n', '!', '~', 'a'),
    minLength: 1,
    maxLength: 6,
  });
  const identity = fc.record({ token: text, authIv: fc.option(text, { nil: undefined }) });

  it('is equal for equal identities and different for different ones', () => {
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const same = one.token === other.token && one.authIv === other.authIv;
        expect(sessionKeysOf(one).sessionKey === sessionKeysOf(other).sessionKey).toBe(same);
      }),
    );
  });

  it('differs for identities whose token and IV are the same text when concatenated', () => {
    const keyOf = (token: string, authIv: string) => sessionKeysOf({ token, authIv }).sessionKey;
    expect(keyOf('ab', 'c')).not.toBe(keyOf('a', 'bc'));
  });

  it('has the same token key for every IV of a token', () => {
    expect(sessionKeysOf({ token: 'a', authIv: 'b' }).tokenKey).toBe(tokenKeyOf('a'));
    expect(sessionKeysOf({ token: 'a', authIv: undefined })).toEqual({
      tokenKey: tokenKeyOf('a'),
      sessionKey: tokenKeyOf('a'),
    });
  });

  it('does not contain the token', () => {
    expect(tokenKeyOf('canary-token')).not.toContain('canary');
  });
});
