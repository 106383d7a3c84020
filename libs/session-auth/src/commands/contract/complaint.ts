import { type FailedAnswer, INTERRUPTED } from '../calls/answer.js';
import { failureText } from '../calls/failure-texts.js';

/** The service does not keep a row of the contract. Its message holds no text of a reply. */
export class Complaint extends Error {}

/** Failures of a request that may have reached the service. */
const MAY_BE_SENT = /^(?:TIMEOUT|ECONNRESET|EPIPE|TOO_LARGE|HPE_.*|INVALID_REPLY)$/;

/** A call brought no reply. */
export class NoReply extends Complaint {
  /** Whether the user has interrupted the command. */
  readonly isInterruption: boolean;

  constructor(answer: FailedAnswer, isSignIn = false) {
    super(
      `${failureText(answer)}${isSignIn && MAY_BE_SENT.test(answer.code) ? ' A session may have been opened; its token is unknown.' : ''}`,
    );
    this.isInterruption = answer.code === INTERRUPTED;
  }
}
