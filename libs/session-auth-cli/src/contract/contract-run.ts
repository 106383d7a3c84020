import { type Answer, statusOf } from '../calls/answer.js';
import { randomText, Secrets } from '../calls/secrets.js';
import { type Account, ServiceClient, type ServiceSettings } from '../calls/service-client.js';
import { Complaint, NoReply } from './expectations.js';
import type { ContractRow, Need, RowResult } from './row.js';

export interface ContractSettings extends ServiceSettings {
  readonly users: Readonly<Record<Exclude<Need, 'nothing'>, Account | undefined>>;
  readonly tryWrongPassword: boolean;
}

const LACKS = {
  user: 'it needs a user: pass --user',
  'second user': 'it needs another user: pass --second-user',
  'pending user': 'it needs a user whose sign-in answers 202: pass --pending-user',
} as const;
const LOCKS = 'it tries a wrong password of the user, which may lock the account: pass --try-wrong-password';
const INTERRUPTED = 'the command was interrupted';
const NOT_SIGNED_IN =
  'the first sign-in of its user failed, and is not tried again, since that could lock the account';

const MAX_ROWS_WITHOUT_REPLY = 3;
const MAX_SESSIONS_LEFT_OPEN = 3;

export class ContractRun {
  readonly #settings: ContractSettings;
  readonly #secrets = new Secrets();
  readonly #canSignIn = new Map<Need, boolean>();
  #stopped: string | undefined;
  #rowsWithoutReply = 0;
  #sessionsLeftOpen = 0;

  constructor(settings: ContractSettings) {
    this.#settings = settings;
    const passwords = Object.values(settings.users).map((user) => user?.password);
    this.#secrets.add('a key or a password', settings.apiKey, ...passwords);
  }

  /** Returns why a row can't run with these settings; `undefined` if it can. */
  lacks({ needs, triesWrongPassword }: ContractRow): string | undefined {
    const { users, tryWrongPassword } = this.#settings;
    if (needs !== 'nothing' && !users[needs]) return LACKS[needs];
    return triesWrongPassword && !tryWrongPassword ? LOCKS : undefined;
  }

  async run(row: ContractRow): Promise<RowResult> {
    const { id, section, title } = row;
    const reason = this.lacks(row) ?? this.#stopReason(row);
    if (reason !== undefined) return { id, section, title, outcome: 'skipped', text: reason, seconds: 0 };
    const client = new ServiceClient(this.#settings);
    const startedAt = performance.now();
    const problem = await this.#try(row, client);
    this.#learn(row, client.answers, problem);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (problem === undefined) return { id, section, title, outcome: 'ok', seconds };
    return problem instanceof NoReply && problem.isInterruption
      ? { id, section, title, outcome: 'skipped', text: INTERRUPTED, seconds }
      : { id, section, title, outcome: 'fail', text: this.#secrets.mask(problem.message), seconds };
  }

  finish(): RowResult {
    const row = {
      id: 'sessions-ended',
      section: 'Sessions of this run',
      title: 'Every session that the rows opened was signed out.',
    };
    const left = this.#sessionsLeftOpen;
    if (left > 0) {
      const text = `${left} could not be signed out. They end when they expire.`;
      return { ...row, outcome: 'fail', text, seconds: 0 };
    }
    return [...this.#canSignIn.values()].includes(true)
      ? { ...row, outcome: 'ok', seconds: 0 }
      : { ...row, outcome: 'skipped', text: 'no row opened a session', seconds: 0 };
  }

  async #try({ needs, run }: ContractRow, client: ServiceClient): Promise<Complaint | undefined> {
    const user = needs === 'nothing' ? undefined : this.#settings.users[needs];
    try {
      await run(client, user ?? { username: randomText(), password: randomText() });
      return undefined;
    } catch (error) {
      if (error instanceof Complaint) return error;
      throw error;
    } finally {
      this.#sessionsLeftOpen += await client.endSessions();
    }
  }

  /**
   * Decides whether later rows make sense: to spare the accounts, and the time of a service that does not
   * answer.
   */
  #learn({ needs }: ContractRow, answers: readonly Answer[], problem: Complaint | undefined): void {
    const statuses = answers.map(statusOf);
    if (needs !== 'nothing') {
      if (statuses.includes(200) || statuses.includes(202)) this.#canSignIn.set(needs, true);
      else if (problem && !this.#canSignIn.get(needs)) this.#canSignIn.set(needs, false);
    }
    this.#rowsWithoutReply = problem instanceof NoReply ? this.#rowsWithoutReply + 1 : 0;
    if (statuses.includes(429)) this.#stopped = 'the service limits the rate of requests (429)';
    if (this.#rowsWithoutReply >= MAX_ROWS_WITHOUT_REPLY)
      this.#stopped = `${MAX_ROWS_WITHOUT_REPLY} rows in succession brought no reply`;
  }

  #stopReason({ needs }: ContractRow): string | undefined {
    if (this.#settings.interrupted?.aborted) return INTERRUPTED;
    if (needs !== 'nothing' && this.#sessionsLeftOpen >= MAX_SESSIONS_LEFT_OPEN)
      return 'sessions of earlier rows could not be signed out';
    return this.#stopped ?? (this.#canSignIn.get(needs) === false ? NOT_SIGNED_IN : undefined);
  }
}
