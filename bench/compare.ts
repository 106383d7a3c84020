import { estimateOf } from './estimate.js';
import type { Bar, Finding } from './question.js';
import { lapsOf, ratiosOf, type RaceResult } from './race.js';
import { atLeast } from './target.js';

/** The platform that the chart is about: Nest's default. */
export const CHART_PLATFORM = 'Express';

/** Two contenders to compare, with the target of their ratio. */
export interface Comparison {
  readonly platform: string;
  readonly name: string;
  readonly against: string;
  readonly atLeast?: number;
  readonly bar?: Bar;
}

/** The ratio of the requests of two contenders for a second of processor time. */
export function compare(
  result: RaceResult,
  { platform, name, against, atLeast: limit, bar }: Comparison,
): Finding {
  const { calls, requests } = lapsOf(result, name);
  return {
    subject: `${platform}: ${name}`,
    against,
    unit: 'ratio',
    value: estimateOf(ratiosOf(result, name, against)),
    calls: `${calls} for ${requests} requests`,
    ...(bar && { bar }),
    ...(limit !== undefined && { target: atLeast(limit) }),
  };
}
