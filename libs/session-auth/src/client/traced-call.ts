import { CALLS, type CallMessage } from '../contract/diagnostics.js';

/** What a call's message says of its end. */
type End = Pick<CallMessage, 'outcome' | 'reason'>;

/**
 * Makes a call, and tells of it where somebody listens: nobody pays for messages that nobody hears. Node's own `tracePromise` would put the
 * result into the message, and that holds users and tokens: so it is kept from it.
 */
export function traced<Result>(
  operation: CallMessage['operation'],
  call: () => Promise<Result>,
  endOf: (result: Result) => End = () => ({ outcome: 'done' }),
): Promise<Result> {
  return CALLS.hasSubscribers ? tracedTo({ operation }, call, endOf) : call();
}

async function tracedTo<Result>(message: CallMessage, call: () => Promise<Result>, endOf: (result: Result) => End): Promise<Result> {
  let result: Result | undefined;
  await CALLS.tracePromise(async () => {
    try {
      result = await call();
      Object.assign(message, endOf(result));
    } catch (error) {
      message.outcome = 'failed';
      throw error;
    }
  }, message);
  return result as Result;
}
