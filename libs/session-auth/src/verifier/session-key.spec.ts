import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sessionKey, tokenKey } from './session-key.js';

describe('the key of a session', () => {
  const text = fc.string({ minLength: 1, maxLength: 20 });
  const identity = fc.record({ token: text, authIv: fc.option(text, { nil: undefined }) });

  it('is the same for the same identity and another for every other', () => {
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const same = one.token === other.token && one.authIv === other.authIv;
        expect(sessionKey(one) === sessionKey(other)).toBe(same);
      }),
    );
  });

  it('tells apart what is the same text when put together', () => {
    expect(sessionKey({ token: 'ab', authIv: 'c' })).not.toBe(sessionKey({ token: 'a', authIv: 'bc' }));
    expect(sessionKey({ token: '1:a', authIv: undefined })).not.toBe(sessionKey({ token: '1', authIv: 'a' }));
  });

  it('does not hold the token', () => {
    expect(tokenKey('canary-token')).not.toContain('canary');
  });
});
