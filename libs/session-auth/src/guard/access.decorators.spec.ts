import { describe, expect, it } from '@jest/globals';
import { InvalidConfigurationError } from '../contract/errors.js';
import { declarationOf } from './access-metadata.js';
import { FreshSession } from './access.decorators.js';

describe('@FreshSession()', () => {
  it.each([-1, 0.5, Number.NaN, Infinity, '5'])('rejects a maxAgeMs of %p', (maxAgeMs) => {
    expect(() => FreshSession({ maxAgeMs: maxAgeMs as number })).toThrow(InvalidConfigurationError);
  });

  it.each([
    [undefined, 0],
    [{}, 0],
    [{ maxAgeMs: 0 }, 0],
    [{ maxAgeMs: 1 }, 1],
  ])('with %j requires a session of at most %i ms', (options, maxAgeMs) => {
    const handler = (): void => undefined;
    FreshSession(options)(handler);
    expect(declarationOf(handler).requirements).toMatchObject([{ kind: 'FreshSession', maxAgeMs }]);
  });
});
