import { CALLS, type CallMessage } from '../contract/diagnostics.js';

/** What a call's message says of its end. */
type End = Pick<CallMessage, 'outcome' | 'reason'>;

/**
 * Makes a call, and tells of it where somebody listens. Node's own `tracePromise` would put the result into the message,
 * and that holds users and tokens: so it is kept from it.
 */
export async function traced<Result>(
  operation: CallMessage['operation'],
  call: () => Promise<Result>,
  endOf: (result: Result) => End = () => ({ outcome: 'done' }),
): Promise<Result> {
  const message: CallMessage = { operation };
  const results: Result[] = [];
  await CALLS.tracePromise(async () => {
    try {
      const result = await call();
      Object.assign(message, endOf(result));
      results.push(result);
    } catch (error) {
      message.outcome = 'failed';
      throw error;
    }
  }, message);
  return results[0] as Result;
}

/** Whether anybody listens. Asked first, because nobody should pay for messages that nobody hears. */
export function isTraced(): boolean {
  return CALLS.hasSubscribers;
}
