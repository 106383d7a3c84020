import fc from 'fast-check';
import { createCipheriv, hkdfSync } from 'node:crypto';
import { weighted } from './drawing.js';

/** Secrets of the instance, and one that it does not have. */
export const SECRETS = ['the first secret of the fleet', 'the second secret of the fleet'] as const;
const KEYS = [...SECRETS, 'the secret of another fleet'] as const;

/**
 * A field of a message, by its meaning: the test puts the digest of a session, or the name of a user, in its
 * place.
 */
export type Field =
  | { readonly kind: 'session' | 'user'; readonly index: number }
  | { readonly kind: 'session, spelled otherwise'; readonly index: number }
  | { readonly kind: 'other'; readonly value: unknown };

/** A message to publish. */
export interface ChannelCase {
  readonly key: (typeof KEYS)[number];
  /** The purpose of the derived key. */
  readonly use: 'messages' | 'values' | 'names';
  readonly scope: 'own' | 'other';
  readonly kind: unknown;
  readonly token: Field | undefined;
  readonly username: Field | undefined;
  /** `same` is that of the message before. */
  readonly id: 'new' | 'same' | 'none' | { readonly value: unknown };
  readonly at: unknown;
  readonly from: unknown;
  readonly storeMs: unknown;
  /** Replaces the whole envelope. */
  readonly text: string | undefined;
  readonly damage: Damage | undefined;
  /** How many times it arrives. */
  readonly times: number;
}

interface Damage {
  readonly kind: 'flip' | 'cut' | 'append' | 'replace';
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** A time of the store's clock that is not before that of the instance. */
export const TIMELY_MS = 1_700_000_000_000;

const odd = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    '',
    0,
    true,
    {},
    [],
    '__proto__',
    'constructor',
    'toString',
    'signedIn',
    'SignedOut',
    '\0',
    '\ud800',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const index = fc.nat(5);
const token: fc.Arbitrary<Field> = weighted(
  [8, fc.record({ kind: fc.constant('session' as const), index })],
  [1, fc.record({ kind: fc.constant('session, spelled otherwise' as const), index })],
  [1, fc.record({ kind: fc.constant('user' as const), index })],
  [2, fc.record({ kind: fc.constant('other' as const), value: odd })],
);
const username: fc.Arbitrary<Field> = weighted(
  [6, fc.record({ kind: fc.constant('user' as const), index })],
  [2, fc.record({ kind: fc.constant('other' as const), value: odd })],
);
const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom<Damage['kind'][]>('flip', 'cut', 'append', 'replace'),
  at: fc.nat(9_999),
  bytes: weighted(
    [20, fc.uint8Array({ minLength: 1, maxLength: 40 })],
    [1, fc.constant(new Uint8Array(9_000))],
  ),
});
const rarely = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  weighted([weight, fc.constant(undefined)], [1, arbitrary]);

/** Anything on the channel: most often a message of the fleet, with something wrong here and there. */
export const channelCase: fc.Arbitrary<ChannelCase> = fc.record({
  key: weighted([6, fc.constant(KEYS[0])], [2, fc.constant(KEYS[1])], [1, fc.constant(KEYS[2])]),
  use: weighted(
    [12, fc.constant('messages' as const)],
    [1, fc.constantFrom('values' as const, 'names' as const)],
  ),
  scope: weighted([12, fc.constant('own' as const)], [1, fc.constant('other' as const)]),
  kind: weighted(
    [9, fc.constantFrom<unknown[]>('signedOut', 'refused', 'evicted', 'userRevoked')],
    [1, fc.constant<unknown>('allRevoked')],
    [2, odd],
  ),
  token: weighted([9, token], [1, fc.constant(undefined)]),
  username: weighted([5, username], [5, fc.constant(undefined)]),
  id: weighted(
    [12, fc.constant<ChannelCase['id']>('new')],
    [1, fc.constantFrom<ChannelCase['id'][]>('same', 'none')],
    [1, fc.record({ value: odd.filter((value) => typeof value !== 'string') })],
  ),
  at: weighted([12, fc.constant<unknown>(1_700_000_000_000)], [1, odd]),
  from: weighted([12, fc.constant<unknown>('another instance')], [1, odd]),
  storeMs: weighted([12, fc.constant<unknown>(TIMELY_MS)], [1, odd]),
  text: rarely(
    15,
    fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.string(),
      fc.constantFrom('[]', '{', 'null', '1e999', '{"id":"x"}', `"${'x'.repeat(8_200)}"`),
    ),
  ),
  damage: rarely(6, damage),
  times: weighted([12, fc.constant(1)], [1, fc.integer({ min: 2, max: 4 })]),
});

const keys = new Map<string, Buffer>();

/**
 * Seals a text as an instance does: version, IV, AES-256-GCM, tag; the key is derived by HKDF for its use and
 * the base URL of the service.
 */
export function sealed(text: string, { key: secret, use }: ChannelCase, scope: string): Buffer {
  const name = `${secret} ${use} ${scope}`;
  const key =
    keys.get(name) ?? Buffer.from(hkdfSync('sha256', secret, scope, `nestjs-session-auth ${use}`, 32));
  keys.set(name, key);
  const iv = crypto.getRandomValues(Buffer.alloc(12));
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: 16 });
  return Buffer.concat([Buffer.of(1), iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

export function damaged(bytes: Buffer, damage: Damage | undefined): Buffer {
  if (!damage) return bytes;
  const at = damage.at % (bytes.length + 1);
  if (damage.kind === 'replace') return Buffer.from(damage.bytes);
  if (damage.kind === 'cut') return bytes.subarray(0, at);
  if (damage.kind === 'append') return Buffer.concat([bytes, damage.bytes]);
  const flipped = Buffer.from(bytes);
  const place = at % bytes.length;
  flipped[place] = (flipped[place] ?? 0) ^ (1 << (damage.at % 8));
  return flipped;
}
