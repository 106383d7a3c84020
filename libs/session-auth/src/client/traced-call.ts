import { CALLS, type CallMessage } from '../contract/diagnostics.js';
import type { NoReply, Reply } from './reply.js';

/** Fields of a call's message that are set at its start. */
export type CallStart = Pick<
  CallMessage,
  'operation' | 'authority' | 'method' | 'serverAddress' | 'serverPort'
>;

/** Fields that are set at its end. */
type End = Pick<CallMessage, 'outcome' | 'reason'>;

/**
 * Makes a call, and publishes it if the channel has subscribers, so that an unused channel costs nothing.
 * `tracePromise` of Node.js adds the result of its promise to the message, so it gets a promise without the
 * result, which contains the user and the token.
 */
export function traced<Result>(
  describe: () => CallStart,
  call: (message?: CallMessage) => Promise<Result>,
  endOf: (result: Result) => End = () => ({ outcome: 'done' }),
): Promise<Result> {
  return CALLS.hasSubscribers ? traceWith(describe(), call, endOf) : call();
}

/** Sets the status of a reply in the message of the call, if there are both. Returns the reply unchanged. */
export function recordStatus<Answer extends Reply | NoReply>(
  answer: Answer,
  message: CallMessage | undefined,
): Answer {
  if (message && 'status' in answer) message.statusCode = answer.status;
  return answer;
}

async function traceWith<Result>(
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
