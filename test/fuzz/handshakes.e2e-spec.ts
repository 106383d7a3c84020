import { expect, it } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { browserCase } from './browser-case.js';
import { read } from './browser-reading.js';
import { permittedFor } from './browser-oracle.js';
import { Counts, failOnRejections, limitMs, runsOf, tryCases } from './runs.js';

const runs = runsOf('presented sessions', 2_000, 0.6);
failOnRejections();

it(
  'presents the token of every request and handshake that the rules select, and no cookie of a page of another origin',
  async () => {
    const counts = new Counts();
    await tryCases(
      'presented sessions',
      runs,
      browserCase,
      (one) => {
        const [permitted, found] = [permittedFor(one), read(one)];
        counts.add(typeof found === 'string' ? found : 'a token');
        if (permitted.length === 1) counts.add('with one right result');
        if (!permitted.some((right) => isDeepStrictEqual(right, found))) expect(found).toEqual(permitted);
      },
      counts,
    );
    for (const what of ['a token', 'no token', 'malformed token', 'cross-origin'])
      expect(counts.get(what) ?? 0).toBeGreaterThan(runs.cases / 50);
    expect(counts.get('with one right result') ?? 0).toBeGreaterThan(runs.cases * 0.9);
  },
  limitMs(runs),
);
