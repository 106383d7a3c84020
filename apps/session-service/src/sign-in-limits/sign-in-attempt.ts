import { digestOf } from '../secrets/secret-digest.js';
import { callerOf } from './caller-of.js';

/** The account and the caller of an attempt, as keys of fixed size that do not contain the user name. */
export interface SignInAttempt {
  readonly account: string;
  readonly caller: string;
  readonly pair: string;
}

/**
 * Returns the keys of an attempt.
 *
 * @param address - the remote address of the connection; headers are not trusted
 */
export function describeAttempt(username: string, address: string | undefined): SignInAttempt {
  const [account, caller] = [digestOf(username), callerOf(address)];
  return { account, caller, pair: `${account} ${caller}` };
}
