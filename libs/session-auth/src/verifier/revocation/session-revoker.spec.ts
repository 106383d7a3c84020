import { describe, expect, it } from '@jest/globals';
import type { SharedRevocations } from '../shared/shared-revocations.js';
import { SessionRevoker } from './session-revoker.js';

function setUp() {
  const calls: string[] = [];
  const note = (name: string) => (): Promise<void> => Promise.resolve(void calls.push(name));
  const [setTombstone, clearTombstone, publish] = ['setTombstone', 'clearTombstone', 'publish'].map(note);
  const shared = { setTombstone, clearTombstone, publish, subscribe: () => undefined } as unknown as SharedRevocations;
  return { calls, revoker: new SessionRevoker<object>({ flights: [] }, shared) };
}

describe('a sign-out', () => {
  it('sets the tombstone in the store before and after its call: a sign-in that issues the same token may remove it meanwhile', async () => {
    const { calls, revoker } = setUp();
    await revoker.signingOut('token');
    revoker.signedIn('token');
    revoker.signedOut('token');
    expect(calls).toEqual(['setTombstone', 'clearTombstone', 'setTombstone', 'publish']);
  });
});
