import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sessionKeys, tokenKey } from './session-key.js';

describe('the key of a session', () => {
  const text = fc.string({ unit: fc.constantFrom('1', ':', '\\', 'n', '!', '~', 'a'), minLength: 1, maxLength: 6 });
  const identity = fc.record({ token: text, authIv: fc.option(text, { nil: undefined }) });

  it('is the same for the same identity and another for every other', () => {
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const same = one.token === other.token && one.authIv === other.authIv;
        expect(sessionKeys(one).session === sessionKeys(other).session).toBe(same);
      }),
    );
  });

  it('tells apart what is the same text when put together', () => {
    expect(sessionKeys({ token: 'ab', authIv: 'c' }).session).not.toBe(sessionKeys({ token: 'a', authIv: 'bc' }).session);
    expect(sessionKeys({ token: '1:a', authIv: undefined }).session).not.toBe(sessionKeys({ token: '1', authIv: 'a' }).session);
  });

  it('leads from every IV to the one key of its token', () => {
    expect(sessionKeys({ token: 'a', authIv: 'b' }).token).toBe(tokenKey('a'));
    expect(sessionKeys({ token: 'a', authIv: undefined })).toEqual({ token: tokenKey('a'), session: tokenKey('a') });
  });

  it('does not hold the token', () => {
    expect(tokenKey('canary-token')).not.toContain('canary');
  });
});
