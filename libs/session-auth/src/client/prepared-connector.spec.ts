import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { prepared } from './connections.js';

describe('a prepared connector', () => {
  it('returns the socket of the connector, or its failure', () => {
    const [far, failure] = [new Socket(), new Error('no connection')];
    const outcomes: unknown[] = [];
    prepared((_options, settle) => settle(null, far))(
      {} as never,
      (...outcome) => void outcomes.push(outcome),
    );
    prepared((_options, settle) => settle(failure, null))(
      {} as never,
      (...outcome) => void outcomes.push(outcome),
    );
    expect(outcomes).toEqual([
      [null, far],
      [failure, null],
    ]);
  });
});
