import type { FailedAnswer } from '../calls/answer.js';
import { failureText } from '../calls/failure-texts.js';

/** The service does not keep a row of the contract. Its message holds no text of a reply. */
export class Complaint extends Error {
  override readonly name = 'Complaint';
}

/** A call brought no reply. */
export class NoReply extends Complaint {
  /** Whether the user has interrupted the command. */
  readonly isInterruption: boolean;

  constructor(answer: FailedAnswer, mayHaveOpenedSession = false) {
    super(`${failureText(answer)}${mayHaveOpenedSession ? ' A session may have been opened; its token is unknown.' : ''}`);
    this.isInterruption = answer.code === 'INTERRUPTED';
  }
}
