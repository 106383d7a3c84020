import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sessionKeysOf, type SessionKeys } from '../contract/session-identity.js';
import { SessionSeal } from './session-seal.js';

const visibleAscii = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
});
const keys = fc
  .record({ token: visibleAscii, authIv: fc.option(visibleAscii, { nil: undefined }) })
  .map((session): SessionKeys => sessionKeysOf(session));
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.json());
const secret = fc.string({ minLength: 16, maxLength: 1_024 });
const scope = fc.webUrl();
const twoOf = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<[Value, Value]> =>
  fc.tuple(arbitrary, arbitrary).filter(([one, other]) => JSON.stringify(one) !== JSON.stringify(other));

/** Changes of sealed bytes in transit. */
const damage = fc.oneof(
  fc.record({ at: fc.nat(), bit: fc.nat(7) }).map(({ at, bit }) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    const index = at % copy.length;
    copy[index] = (copy[index] ?? 0) ^ (1 << bit);
    return copy;
  }),
  fc.nat().map((length) => (bytes: Buffer) => bytes.subarray(0, length % bytes.length)),
  fc.nat().map((length) => (bytes: Buffer) => bytes.subarray(1 + (length % bytes.length))),
  fc
    .uint8Array({ minLength: 1, maxLength: 64 })
    .map((more) => (bytes: Buffer) => Buffer.concat([bytes, more])),
  fc.uint8Array({ maxLength: 256 }).map((other) => () => Buffer.from(other)),
);

describe('a sealed value', () => {
  it('can be opened for the same session by every instance with the secret', () => {
    fc.assert(
      fc.property(secret, scope, keys, text, (key, at, session, said) => {
        const [one, other] = [new SessionSeal(key, at), new SessionSeal(key, at)];
        expect(other.nameOf(session.tokenKey)).toBe(one.nameOf(session.tokenKey));
        expect(other.openValue(session, one.sealValue(session, said))).toBe(Buffer.from(said).toString());
        expect(other.openMessage(one.sealMessage(said))).toBe(Buffer.from(said).toString());
      }),
    );
  });

  it('cannot be opened with another secret or scope, nor as a message', () => {
    fc.assert(
      fc.property(
        twoOf(secret),
        twoOf(scope),
        keys,
        text,
        ([key, otherKey], [at, elsewhere], session, said) => {
          const seal = new SessionSeal(key, at);
          const [value, message] = [seal.sealValue(session, said), seal.sealMessage(said)];
          const opened = [seal.openMessage(value), seal.openValue(session, message)];
          for (const stranger of [new SessionSeal(otherKey, at), new SessionSeal(key, elsewhere)]) {
            opened.push(stranger.openValue(session, value), stranger.openMessage(message));
            expect(stranger.nameOf(session.tokenKey)).not.toBe(seal.nameOf(session.tokenKey));
          }
          expect(new Set(opened)).toEqual(new Set([undefined]));
        },
      ),
    );
  });

  it('cannot be opened for the same token with another IV, nor under the name of another token [P56]', () => {
    fc.assert(
      fc.property(twoOf(visibleAscii), twoOf(fc.option(visibleAscii, { nil: undefined })), (tokens, ivs) => {
        const seal = new SessionSeal('a secret of sixteen', 'https://sessions.example.com');
        const [own, ...others] = tokens.flatMap((token) =>
          ivs.map((authIv) => sessionKeysOf({ token, authIv })),
        ) as [SessionKeys, ...SessionKeys[]];
        const value = seal.sealValue(own, 'text');
        expect(seal.openValue(own, value)).toBe('text');
        for (const { tokenKey, sessionKey } of others) {
          expect(seal.openValue({ tokenKey, sessionKey }, value)).toBeUndefined();
          if (tokenKey === own.tokenKey)
            expect(seal.openValue({ ...own, sessionKey }, value)).toBeUndefined();
          else expect(seal.openValue({ ...own, tokenKey }, value)).toBeUndefined();
        }
      }),
    );
  });

  it('cannot be opened if a bit was flipped, or a byte was removed or added, or it is another value', () => {
    fc.assert(
      fc.property(secret, keys, text, damage, (key, session, said, change) => {
        const seal = new SessionSeal(key, 'https://sessions.example.com');
        expect(seal.openValue(session, change(seal.sealValue(session, said)))).toBeUndefined();
        expect(seal.openMessage(change(seal.sealMessage(said)))).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it('differs each time, and reveals neither the text nor the token', () => {
    fc.assert(
      fc.property(secret, fc.string({ minLength: 8 }), (key, said) => {
        const seal = new SessionSeal(key, 'https://sessions.example.com');
        const session = sessionKeysOf({ token: `token of ${said}`, authIv: undefined });
        const [one, other] = [seal.sealValue(session, said), seal.sealValue(session, said)];
        expect(one.equals(other)).toBe(false);
        expect(one.includes(said)).toBe(false);
        expect(seal.nameOf(session.tokenKey)).toMatch(/^[\w-]{43}$/);
      }),
    );
  });
});

describe('the form of a seal', () => {
  const seal = new SessionSeal('a secret of sixteen', 'https://sessions.example.com');
  const session = sessionKeysOf({ token: 'token', authIv: 'iv' });
  // Computed with another implementation of HKDF, HMAC and AES-GCM.
  const NAME = 'SWCSFxA7K2gk7VO8qoSKxBAlvCzoT79hWKYM9277KV8';
  const VALUE = 'AQABAgMEBQYHCAkKC5MD7gFdz+Tn5BiDWf8VIwMk20m7+9u5kro=';
  const MESSAGE = 'AQABAgMEBQYHCAkKC6PxwoxviztHj8iI2IKk+tNtteo2cS6T5Zc=';

  it('stays the same, because instances of several versions share a store during a deploy', () => {
    expect(seal.nameOf(session.tokenKey)).toBe(NAME);
    expect(seal.nameOfRevoked(session.tokenKey)).toBe(`revoked.${NAME}`);
    expect(seal.nameOfUser('ann é')).toBe('user.dez4EezaGSt23QpuWnLuC8Ps6-zzROdGfMCXXsl23qw');
    expect(seal.nameOfAll).toBe('all.osWiQZ3ziPvulxRsk6TQaHSCNP1P-EVyVATzftqVYwE');
    expect(seal.openValue(session, Buffer.from(VALUE, 'base64'))).toBe('{"né":1}');
    expect(seal.openMessage(Buffer.from(MESSAGE, 'base64'))).toBe('{"né":1}');
  });

  it('is refused with the number of another version', () => {
    const [value, message] = [Buffer.from(VALUE, 'base64'), Buffer.from(MESSAGE, 'base64')];
    value[0] = message[0] = 2;
    expect([seal.openValue(session, value), seal.openMessage(message)]).toEqual([undefined, undefined]);
  });
});
