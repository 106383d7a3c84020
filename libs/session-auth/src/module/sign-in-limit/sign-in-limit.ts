import { createHmac, randomBytes } from 'node:crypto';
import { CredentialsRejectedError, InvalidRequestError, TooManyAttemptsError } from '../../exceptions/session-exceptions.js';
import { withoutStack } from '../../guard/denial.js';
import type { SignInLimitSettings } from '../settings/sign-in-settings.js';
import { networkOf } from './client-network.js';
import { FailureCounts } from './failure-counts.js';

/** Keys with failures that each table keeps: both take 8 MB when each key has failed once, and 14 MB with 5 failures of each. */
export const MAX_KEYS = 10_000;
const MAX_CLIENT_LENGTH = 256;
/** Longer user names are counted by their beginning. */
const MAX_NAME_LENGTH = 1_024;

/** The failures of clients, and of user names with clients. */
interface Counts {
  readonly clients: FailureCounts;
  readonly pairs: FailureCounts;
}

/**
 * Limits the sign-ins that the service refuses: by client, and by user name and client. A correct password from another client always reaches
 * the service. Only wrong credentials count; a success sets the count of its user name and client to zero. The tables hold digests, no names.
 */
export class SignInLimit {
  readonly #counts: Counts | undefined;
  readonly #onLimited: (network: string | undefined) => void;
  readonly #key = randomBytes(32);

  /** @param onLimited called for each sign-in beyond the limit, with the network of the client if it has an IP address */
  constructor(settings: SignInLimitSettings | undefined, onLimited: (network: string | undefined) => void) {
    this.#onLimited = onLimited;
    if (!settings) return;
    const { failures, failuresPerClient, windowMs } = settings;
    const now = (): number => performance.now();
    this.#counts = {
      clients: new FailureCounts({ failures: failuresPerClient, windowMs, maxKeys: MAX_KEYS }, now),
      pairs: new FailureCounts({ failures, windowMs, maxKeys: MAX_KEYS }, now),
    };
  }

  /** Number of entries in all tables. */
  get size(): number {
    return this.#counts ? this.#counts.clients.size + this.#counts.pairs.size : 0;
  }

  /**
   * Runs a sign-in, if it is within the limit. While it runs, it counts as a failure, so that guesses at the same time can't exceed the limit.
   * @throws TooManyAttemptsError beyond the limit, InvalidRequestError without a client
   */
  async run<Result extends { readonly kind: string }>(
    username: string,
    client: string | undefined,
    signIn: () => Promise<Result>,
  ): Promise<Result> {
    if (!this.#counts) return signIn();
    const { clients, pairs } = this.#counts;
    const [clientKey, pairKey] = this.#admit(username, client, this.#counts);
    clients.reserve(clientKey);
    pairs.reserve(pairKey);
    try {
      const result = await signIn();
      if (result.kind === 'signed-in') pairs.clear(pairKey);
      return result;
    } catch (error) {
      if (error instanceof CredentialsRejectedError) {
        clients.add(clientKey);
        pairs.add(pairKey);
      }
      throw error;
    } finally {
      clients.release(clientKey);
      pairs.release(pairKey);
    }
  }

  /** Sets all counts to zero. */
  reset(): void {
    this.#counts?.clients.clearAll();
    this.#counts?.pairs.clearAll();
  }

  #admit(username: string, client: unknown, { clients, pairs }: Counts): [clientKey: string, pairKey: string] {
    if (typeof client !== 'string' || client === '' || client.length > MAX_CLIENT_LENGTH)
      throw withoutStack(() => new InvalidRequestError(NO_CLIENT));
    const network = networkOf(client);
    const clientKey = this.#digest(network ?? `name ${client}`);
    const pairKey = this.#digest(`${clientKey}${comparable(username)}`);
    const waitMs = Math.max(clients.waitMs(clientKey), pairs.waitMs(pairKey));
    if (waitMs === 0) return [clientKey, pairKey];
    this.#onLimited(network);
    throw withoutStack(() => new TooManyAttemptsError(Math.max(1, Math.ceil(waitMs / 1_000))));
  }

  #digest(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('binary');
  }
}

const NO_CLIENT = 'With signInLimit, a sign-in needs its client, of 1 to 256 characters: signIn(credentials, { client: request.ip })';

/**
 * A service may ignore case, spaces and compatible characters: spellings of one name must not have a count each. Some letters are equal only in
 * lower case, and some only in upper case, such as the two forms of the Greek sigma.
 */
function comparable(username: string): string {
  return username.trim().slice(0, MAX_NAME_LENGTH).normalize('NFKC').toLowerCase().toUpperCase();
}
