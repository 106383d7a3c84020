import { describe, expect, it } from '@jest/globals';
import { type SessionSocketOptions, watchSettings } from './socket-options.js';

const DAY_MS = 86_400_000;

describe('the options of watched sockets', () => {
  it.each<[SessionSocketOptions, number, number]>([
    [{}, 60_000, 300_000],
    [{ recheckMs: NaN, outageGraceMs: NaN }, 60_000, 300_000],
    [{ recheckMs: 5, outageGraceMs: 7 }, 5, 7],
    [{ recheckMs: 0, outageGraceMs: -1 }, 1, 0],
    [{ recheckMs: DAY_MS + 1, outageGraceMs: Infinity }, DAY_MS, DAY_MS],
  ])(
    'have the defaults of the option whileOpen, and limits: %j checks every %i ms, with %i ms of grace',
    (options, recheckMs, outageGraceMs) => {
      const settings = watchSettings(options, { recheckMs: 60_000, outageGraceMs: 300_000 });
      expect(settings).toEqual({ recheckMs, outageGraceMs });
    },
  );
});
