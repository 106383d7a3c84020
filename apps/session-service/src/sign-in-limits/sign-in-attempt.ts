import { digestOf } from '../secrets/secret-digest.js';
import { callerOf } from './caller-of.js';

/** Whose attempt to sign in to which account: keys of fixed size, without the name. */
export interface SignInAttempt {
  readonly account: string;
  readonly caller: string;
  readonly pair: string;
}

/**
 * Describes an attempt.
 *
 * @param address - the remote address of the connection; what a header says of it is not trusted
 */
export function describeAttempt(username: string, address: string | undefined): SignInAttempt {
  const [account, caller] = [digestOf(username), callerOf(address)];
  return { account, caller, pair: `${account} ${caller}` };
}
