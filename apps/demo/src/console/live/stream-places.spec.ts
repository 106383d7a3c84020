import { describe, expect, it } from '@jest/globals';
import { StreamPlaces } from './stream-places.js';

describe('StreamPlaces', () => {
  it('gives each address so many places, and all of them no more than there are', () => {
    const places = new StreamPlaces(5, 2);
    const taken = ['one', 'one', 'one', 'two', 'two', 'three', 'four'].map((address) => places.take(address) !== undefined);
    expect(taken).toEqual([true, true, false, true, true, true, false]);
  });

  it('gives a place to the next once it was given back, however often that was', () => {
    const places = new StreamPlaces(1, 1);
    const giveBack = places.take('one');
    giveBack?.();
    giveBack?.();
    const again = places.take('two');
    expect([again !== undefined, places.take('three')]).toEqual([true, undefined]);
  });
});
