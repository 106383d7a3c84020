import { afterEach, expect, it } from '@jest/globals';
import { MemoryServer, MemoryStore } from '../../../../test/fleet/memory-store.js';
import type { Revocation } from '../verifier/revocations.js';
import { RevocationBus } from './revocation-bus.js';
import { StoreAccess } from './store-access.js';

const KEY = Buffer.alloc(32, 255);
const MESSAGE = { id: 'id', from: 'another', at: 0, storeMs: 1e15, token: KEY.toString('base64') };
const ended = (kind: string): unknown => ({ kind, tokenKey: KEY.toString('latin1') });

/** Returns the revocations in messages: texts are sealed by another instance with the secret. */
async function received(...messages: readonly (string | Buffer)[]): Promise<Revocation[]> {
  const store = new MemoryStore(new MemoryServer());
  const settings = { store, timeoutMs: 1_000, secrets: ['a secret of sixteen'], scope: 'scope' } as const;
  const access = new StoreAccess(settings, () => undefined);
  const found: Revocation[] = [];
  const reports = { busStateChanged: () => undefined, clockDiffers: () => undefined };
  new RevocationBus(access, 60_000, reports as never).subscribe(
    (one) => found.push(one),
    () => undefined,
  );
  const sealed = (text: string): Buffer => access.seals[0].sealMessage(text, Buffer.alloc(12));
  for (const message of messages)
    await store.publish(typeof message === 'string' ? sealed(message) : message);
  return found;
}

afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]));

it.each<[object, unknown]>([
  ...['signedOut', 'refused', 'evicted'].map((kind): [object, unknown] => [{ kind }, ended(kind)]),
  ...[{ kind: 'userRevoked', username: '' }].map((one): [object, unknown] => [one, one]),
  [{ kind: 'allRevoked', username: 7, more: {} }, { kind: 'allRevoked' }],
])('a message of another instance that holds %j is received once', async (members, revocation) => {
  const text = JSON.stringify({ ...MESSAGE, ...members });
  expect(await received(text, text)).toEqual([revocation]);
});

const revokesNothing = async (members: object): Promise<void> => {
  const text = JSON.stringify({ ...MESSAGE, kind: 'signedOut', ...members });
  const next = JSON.stringify({ ...MESSAGE, id: 'next', kind: 'evicted' });
  expect(await received(text, next)).toEqual([ended('evicted')]);
};

it.each<object>([
  ...['SignedOut', '__proto__', null, 7, ['signedOut'], undefined].map((kind) => ({ kind })),
  ...[undefined, null, 7, [MESSAGE.token]].map((token) => ({ token })),
  ...[undefined, null, 7, ['ann']].map((username) => ({ kind: 'userRevoked', username })),
  ...['id', 'from', 'at', 'storeMs'].flatMap((name) =>
    [undefined, null, {}].map((value) => ({ [name]: value })),
  ),
])('a message of another version that holds %p revokes nothing [Q09]', revokesNothing);

it('a message of more than 8,192 bytes revokes nothing', () => revokesNothing({ more: 'x'.repeat(8_192) }));

it.each(['', 'null', '[]', '7', '"x"', '{', '1e999', '{"__proto__":{"kind":"allRevoked"}}', '\0'])(
  'a message of another version that is %j revokes nothing',
  async (text) => expect(await received(text)).toEqual([]),
);

it.each([
  ...[0, 1, 1_000_000].map((length) => Buffer.alloc(length, 1)),
  Buffer.from(JSON.stringify({ ...MESSAGE, kind: 'allRevoked' })),
])('bytes that no instance has sealed revoke nothing: %#', async (bytes) => {
  const text = JSON.stringify({ ...MESSAGE, id: 'next', kind: 'evicted' });
  expect(await received(bytes, text)).toEqual([ended('evicted')]);
});
