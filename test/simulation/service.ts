import type { Deadline } from '../../libs/session-auth/src/client/deadline.js';
import { readUser } from '../../libs/session-auth/src/contract/record/user-record.js';
import type { SignInResult } from '../../libs/session-auth/src/client/session-client.js';
import type { Credentials } from '../../libs/session-auth/src/client/session-client.js';
import {
  AccessDeniedError,
  SessionServiceUnavailableError,
} from '../../libs/session-auth/src/exceptions/session-exceptions.js';
import type { SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import {
  FORBIDDEN,
  UNAUTHENTICATED,
  unavailable,
  type UnavailableReason,
  type Verdict,
} from '../../libs/session-auth/src/contract/outcome.js';
import type { SeededRandom } from '../support/seeded-random.js';
import { chance } from './random.js';
import type { Host } from './host.js';
import type { World } from './world.js';

/**
 * The record of a user. Each answer has a unique number, so that each authenticated check identifies the call
 * that it comes from.
 */
export interface User {
  readonly username: string;
  readonly auth_token: string;
  readonly answer: number;
}

/** A call to user_details that the service answered with a user. */
export interface Answer {
  readonly number: number;
  readonly token: string;
  readonly authIv: string | undefined;
  readonly username: string;
  readonly host: Host;
  /** When the call was sent, in virtual time and in the global sequence. */
  readonly sentAtMs: number;
  readonly sent: number;
  /** When the service read its state. */
  readonly readAtMs: number;
  /** Milliseconds that the response allows caching. */
  readonly maxCacheMs: number | undefined;
}

interface ServiceSession {
  readonly token: string;
  readonly authIv: string | undefined;
  readonly username: string;
  state: 'valid' | 'ended' | 'blocked';
}

export interface ServiceHealth {
  leastMs: number;
  mostMs: number;
  /** Part of the calls that fail. */
  failing: number;
  /** Part of the calls that are never answered. */
  hanging: number;
}

interface Call<Result> {
  readonly host: Host;
  readonly deadline: Deadline;
  /** Reads or changes the state of the service. */
  readonly execute: () => Result;
  readonly failed: (reason: UnavailableReason) => Result;
}

/** The session service. It reads its state at a random moment between a request and its response. */
export class SimulatedService {
  readonly #world: World;
  readonly #random: SeededRandom;
  readonly health: ServiceHealth;
  readonly sessions = new Map<string, ServiceSession>();
  readonly answers: Answer[] = [];
  /** Virtual time of the last change of each session. */
  readonly changedAtMs = new Map<string, number>();
  /** Called for each call to user_details. Returns a function that is called when the call is over. */
  onCall: ((host: Host, session: SessionIdentity) => () => void) | undefined;

  /** Milliseconds that its responses allow caching. */
  readonly #cacheForMs: number | undefined;
  /** Returns the name that the class of user records makes of the name that the service sends. */
  nameOf = (username: string): string => username;

  constructor(world: World, random: SeededRandom, health: ServiceHealth, cacheForMs: number | undefined) {
    this.#cacheForMs = cacheForMs;
    this.#world = world;
    this.#random = random;
    this.health = { ...health };
  }

  /** Returns the replacement of the library's HTTP client on a host. */
  clientOf(host: Host): {
    userDetails(session: SessionIdentity, deadline: Deadline): Promise<Verdict<User>>;
    signIn(
      credentials: Credentials,
      authIv: string | undefined,
      deadline: Deadline,
    ): Promise<SignInResult<User>>;
    signOut(session: SessionIdentity, deadline: Deadline): Promise<void>;
  } {
    return {
      userDetails: (session, deadline) => this.#userDetails(host, session, deadline),
      signIn: (credentials, _authIv, deadline) => this.#signIn(host, credentials, deadline),
      signOut: (session, deadline) => this.#signOut(host, session, deadline),
    };
  }

  /** Reads a user record as the class of an application does. */
  readonly readUser = (json: object): User | undefined => {
    const { username, auth_token, answer } = json as Partial<User>;
    if (typeof username !== 'string' || typeof auth_token !== 'string' || typeof answer !== 'number')
      return undefined;
    return Object.freeze({ username: this.nameOf(username), auth_token, answer });
  };

  change(session: ServiceSession, state: ServiceSession['state']): void {
    session.state = state;
    this.changedAtMs.set(session.token, this.#world.nowMs);
    this.#world.trace(() => `service: ${session.token} is ${state}`);
  }

  #userDetails(host: Host, session: SessionIdentity, deadline: Deadline): Promise<Verdict<User>> {
    const [sentAtMs, sent] = [this.#world.nowMs, this.#world.nextSequence()];
    const over = this.onCall?.(host, session);
    const execute = (): Verdict<User> => this.#verdictOn(session, { host, sentAtMs, sent });
    return this.#call<Verdict<User>>({
      host,
      deadline,
      execute,
      failed: (reason) => unavailable(reason),
    }).then((verdict) => {
      over?.();
      this.#world.trace(
        () => `${host.name} service says ${verdict.kind} on ${session.token}, asked at #${sent}`,
      );
      return verdict;
    });
  }

  #verdictOn(
    { token, authIv }: SessionIdentity,
    asked: { host: Host; sentAtMs: number; sent: number },
  ): Verdict<User> {
    const session = this.sessions.get(token);
    if (!session || session.state === 'ended' || session.authIv !== authIv) return UNAUTHENTICATED;
    if (session.state === 'blocked') return FORBIDDEN;
    const { username } = session;
    const number = this.answers.length;
    const cacheForMs = this.#cacheForMs;
    this.answers.push({
      ...asked,
      number,
      token,
      authIv,
      username,
      readAtMs: this.#world.nowMs,
      maxCacheMs: cacheForMs,
    });
    const json = { username, auth_token: token, answer: number };
    const user = readUser(json, this.readUser);
    if (!user) throw new Error('The service sends an unusable record');
    return { kind: 'authenticated', user, json, ...(cacheForMs !== undefined && { cacheForMs }) };
  }

  async #signIn(
    host: Host,
    { username, password: token }: Credentials,
    deadline: Deadline,
  ): Promise<SignInResult<User>> {
    const execute = (): SignInResult<User> => {
      const session = this.sessions.get(token);
      if (session?.username !== username)
        throw new Error('The plan signs in to a session that does not exist');
      this.change(session, 'valid');
      return { kind: 'signed-in', user: { username, auth_token: token, answer: -1 }, token };
    };
    const result = await this.#call<SignInResult<User> | UnavailableReason>({
      host,
      deadline,
      execute,
      failed: (reason) => reason,
    });
    if (typeof result === 'string') throw new SessionServiceUnavailableError(unavailable(result));
    return result;
  }

  async #signOut(host: Host, { token }: SessionIdentity, deadline: Deadline): Promise<void> {
    const execute = (): UnavailableReason | 'done' | 'forbidden' => {
      const session = this.sessions.get(token);
      if (session?.state === 'blocked') return 'forbidden';
      if (session) this.change(session, 'ended');
      return 'done';
    };
    const result = await this.#call<UnavailableReason | 'done' | 'forbidden'>({
      host,
      deadline,
      execute,
      failed: (reason) => reason,
    });
    if (result === 'forbidden') throw new AccessDeniedError();
    if (result !== 'done') throw new SessionServiceUnavailableError(unavailable(result));
  }

  /** A call that fails may have been executed. */
  #call<Result>({ host, deadline, execute, failed }: Call<Result>): Promise<Result> {
    const { leastMs, mostMs, failing, hanging } = this.health;
    const random = this.#random;
    const totalMs = random.between(leastMs, mostMs);
    const readMs = random.between(0, totalMs);
    const isFailing = chance(random, failing);
    const isHanging = chance(random, hanging);
    const isExecuted = !(isFailing || isHanging) || chance(random, 0.5);
    return new Promise((resolve) => {
      let result: Result | undefined;
      deadline.onEnd((end) => resolve(failed(end === 'shutting_down' ? end : 'timeout')));
      if (isExecuted) this.#world.after(readMs, () => (result = execute()));
      if (isHanging) return;
      const reply = (): void =>
        resolve(
          isFailing || result === undefined
            ? failed(chance(random, 0.5) ? 'unreachable' : 'server_error')
            : result,
        );
      this.#world.after(totalMs, reply, host);
    });
  }
}
