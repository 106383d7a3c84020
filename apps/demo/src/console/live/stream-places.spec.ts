import { describe, expect, it } from '@jest/globals';
import { StreamPlaces } from './stream-places.js';

describe('StreamPlaces', () => {
  it('limits the places per address and in total', () => {
    const places = new StreamPlaces(5, 2);
    const taken = ['one', 'one', 'one', 'two', 'two', 'three', 'four'].map(
      (address) => places.take(address) !== undefined,
    );
    expect(taken).toEqual([true, true, false, true, true, true, false]);
  });

  it('frees a place once, also if it is released several times', () => {
    const places = new StreamPlaces(1, 1);
    const giveBack = places.take('one');
    giveBack?.();
    giveBack?.();
    const again = places.take('two');
    expect([again !== undefined, places.take('three')]).toEqual([true, undefined]);
  });
});
