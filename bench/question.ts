import type { Estimate } from './estimate.js';
import type { Stage } from './stage.js';
import type { Target } from './target.js';

/** One line of an answer. */
export interface Finding {
  /** The measured subject. */
  readonly subject: string;
  /** The base of the comparison, if the value is a ratio. */
  readonly against?: string;
  readonly unit: string;
  readonly value: Estimate;
  /** Calls that reached the session service, in words. */
  readonly calls?: string;
  readonly target?: Target;
  /** Its bar in the chart. */
  readonly bar?: Bar;
}

/** A bar of the chart: requests for a second of processor time, as a part of the unguarded route's. */
export interface Bar {
  readonly group: string;
  readonly label: string;
  readonly isOurs: boolean;
}

/** The findings of a question, with notes for the reader. */
export interface Answer {
  readonly findings: readonly Finding[];
  readonly notes?: readonly string[];
}

/** One question that a benchmark answers. */
export interface Question {
  /** Argument of `npm run bench -- NAME`. */
  readonly name: string;
  readonly title: string;
  ask(stage: Stage): Promise<Answer>;
}
