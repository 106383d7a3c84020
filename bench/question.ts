import type { Spread } from './spread.js';
import type { Stage } from './stage.js';
import type { Target } from './target.js';

/** One line of an answer. */
export interface Finding {
  /** What was measured. */
  readonly subject: string;
  /** What it is compared with, when it is a ratio. */
  readonly against?: string;
  readonly unit: string;
  readonly value: Spread;
  /** The same ratio by the application's processor time. It stays when other programs use the machine. */
  readonly byCpu?: Spread;
  /** Calls that reached the session service, in words. */
  readonly calls?: string;
  readonly target?: Target;
  /** Where it stands in the chart. */
  readonly bar?: Bar;
}

/** A bar of the chart: requests per second as a part of the unguarded route's. */
export interface Bar {
  readonly group: string;
  readonly label: string;
  readonly isOurs: boolean;
}

/** What a question found, and what a reader must know to read it. */
export interface Answer {
  readonly findings: readonly Finding[];
  readonly notes?: readonly string[];
}

/** One question that a benchmark answers. */
export interface Question {
  /** What `npm run bench -- NAME` takes. */
  readonly name: string;
  readonly title: string;
  ask(stage: Stage): Promise<Answer>;
}
