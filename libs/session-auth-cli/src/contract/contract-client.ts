import { type Answer, type ReplyAnswer, tokenIn } from '../calls/answer.js';
import {
  type Account,
  type Headers,
  ServiceClient,
  type ServiceRequest,
  type ServiceSettings,
} from '../calls/service-client.js';
import { Complaint, expectRefusal, expectStatus, expectToken, NoReply } from './expectations.js';

/** The users that may be signed in. */
export type ContractUsers = Readonly<Record<'user' | 'second user' | 'pending user', Account | undefined>>;

export interface ContractClientSettings extends ServiceSettings {
  readonly users: ContractUsers;
}

/** The calls of one row. They throw {@link NoReply} without a reply. */
export class ContractClient extends ServiceClient<ReplyAnswer> {
  /** Statuses of the refusals that were expected, in order. */
  readonly refusals: number[] = [];
  readonly #users: ContractUsers;

  constructor(settings: ContractClientSettings) {
    super(settings);
    this.#users = settings.users;
  }

  /** Every reply, in order. */
  get replies(): readonly ReplyAnswer[] {
    return this.answers.filter((answer) => answer.kind === 'reply');
  }

  get user(): Account {
    return this.accountOf('user');
  }

  /** @throws Complaint without such a user */
  accountOf(need: keyof ContractUsers): Account {
    const account = this.#users[need];
    if (!account) throw new Complaint(`This row needs a ${need}.`);
    return account;
  }

  /**
   * Opens a session. Returns its token. Other rows check the record. @throws Complaint if there is no token
   */
  async openSession(headers?: Headers): Promise<string> {
    const reply = await this.signIn(this.user, headers);
    expectStatus(reply, [200]);
    return expectToken({ auth_token: tokenIn(reply) });
  }

  /** @throws Complaint if the reply is not one of the documented refusals, with an empty body */
  expectRefusal(reply: ReplyAnswer): void {
    this.refusals.push(reply.status);
    expectRefusal(reply);
  }

  override async send(request: ServiceRequest): Promise<ReplyAnswer> {
    const answer = (await super.send(request)) as Answer;
    if (answer.kind === 'failure') throw new NoReply(answer, request.method === 'POST');
    return answer;
  }
}
