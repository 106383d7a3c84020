import { CALLS, type CallMessage } from '../contract/diagnostics.js';
import type { NoReply } from './http/reply.js';
import type { Reply } from './http/reply.js';

/** What a call's message says from its beginning. */
export type CallStart = Pick<CallMessage, 'operation' | 'method' | 'serverAddress' | 'serverPort'>;

/** What it says of its end. */
type End = Pick<CallMessage, 'outcome' | 'reason'>;

/**
 * Makes a call, and tells of it where somebody listens: nobody pays for messages that nobody hears. Node's own `tracePromise` would put the
 * result into the message, and that holds users and tokens: so it is kept from it.
 */
export function traced<Result>(
  begin: () => CallStart,
  call: (message?: CallMessage) => Promise<Result>,
  endOf: (result: Result) => End = () => ({ outcome: 'done' }),
): Promise<Result> {
  return CALLS.hasSubscribers ? tracedTo(begin(), call, endOf) : call();
}

/** Notes the status of a reply, if there is one, in the message, if there is one; gives the answer as it is. */
export function recordStatus<Answer extends Reply | NoReply>(answer: Answer, message: CallMessage | undefined): Answer {
  if (message && 'status' in answer) message.statusCode = answer.status;
  return answer;
}

async function tracedTo<Result>(
  message: CallMessage,
  call: (message: CallMessage) => Promise<Result>,
  endOf: (result: Result) => End,
): Promise<Result> {
  let result: Result | undefined;
  await CALLS.tracePromise(async () => {
    try {
      result = await call(message);
      Object.assign(message, endOf(result));
    } catch (error) {
      message.outcome = 'failed';
      throw error;
    }
  }, message);
  return result as Result;
}
