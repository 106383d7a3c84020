import { describe, expect, it } from '@jest/globals';
import { SessionStore } from './session-store.js';

describe('a store', () => {
  it('is recognized if its class extends SessionStore of any copy of this package', () => {
    class OwnStore extends (SessionStore as unknown as new () => object) {}
    class OtherStore {
      readonly kind = 'of another copy';
    }
    Object.defineProperty(OtherStore.prototype, Symbol.for('nestjs-session-auth:session-store'), {
      value: true,
    });
    expect([new OwnStore(), new OtherStore()].map((store) => SessionStore.isOne(store))).toEqual([
      true,
      true,
    ]);
  });

  it.each([undefined, null, 'store', 7, {}, [], () => undefined])('is not %p', (value) => {
    expect(SessionStore.isOne(value)).toBe(false);
  });
});
