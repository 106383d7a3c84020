import { lapsOf, type RaceResult } from './race.js';
import type { Bar, Finding } from './question.js';
import { ratios } from './spread.js';
import { atLeast, atLeastByCpu } from './target.js';

/** The platform that the chart is about: Nest's default. */
export const CHART_PLATFORM = 'Express';

/** Two figures to compare, with the target of their ratio. */
export interface Comparison {
  readonly platform: string;
  readonly name: string;
  readonly against: string;
  readonly atLeast?: number;
  /** As `atLeast`, for the ratio by processor time. */
  readonly atLeastByCpu?: number;
  /** Also by the application's processor time; senseless when other processes do a part of the work. */
  readonly byCpu?: boolean;
  readonly bar?: Bar;
}

/** The ratio of two contenders' requests per second, round by round. */
export function compare(
  result: RaceResult,
  { platform, name, against, atLeast: limit, atLeastByCpu: cpuLimit, byCpu = true, bar }: Comparison,
): Finding {
  const own = lapsOf(result, name);
  const base = lapsOf(result, against);
  return {
    subject: `${platform}: ${name}`,
    against,
    unit: 'ratio',
    value: ratios(own.requestsPerSecond, base.requestsPerSecond),
    ...(byCpu && { byCpu: ratios(own.requestsPerCpuSecond, base.requestsPerCpuSecond) }),
    calls: `${own.calls} for ${own.requests} requests`,
    ...(bar && { bar }),
    ...(limit !== undefined && { target: atLeast(limit) }),
    ...(cpuLimit !== undefined && { target: atLeastByCpu(cpuLimit) }),
  };
}
