import type { StatusMap } from '../../../session-auth/src/contract/status-outcomes.js';
import type { ReplyAnswer } from '../calls/answer.js';
import { randomText, Secrets } from '../calls/secrets.js';
import { type Account, ServiceClient, type ServiceSettings } from '../calls/service-client.js';
import type { CommandIo } from '../command-line/command-line.js';

/** Calls that a session service refuses, by what is wrong with them. */
export type Refused = 'noToken' | 'noKey' | 'wrongKey' | 'wrongPath' | 'endedToken' | 'noIv' | 'otherIv';

/** Options of the module that the examination advises. */
export interface AdvisedOptions {
  readonly baseUrl: string;
  timeoutMs?: number;
  forwardAuthIv?: boolean;
  statusMap?: StatusMap;
  tokenEcho?: 'ignore';
  http?: { maxResponseBytes?: number; maxTokenLength?: number };
}

export interface DoctorSettings extends ServiceSettings {
  readonly account: Account | undefined;
  readonly redis: { readonly url: URL; readonly password: string | undefined } | undefined;
}

export class Examination {
  readonly findings = new Findings();
  readonly secrets = new Secrets();
  readonly calls: ServiceClient;
  readonly refusals: Partial<Record<Refused, ReplyAnswer>> = {};
  readonly options: AdvisedOptions;
  readonly settings: DoctorSettings;
  readonly env: CommandIo['env'];
  /** A token that the service never issued. */
  readonly junkToken = randomText();
  /** The answer to user_details with the token of a session, which the guard must accept. */
  sessionAnswer: { readonly reply: ReplyAnswer; readonly token: string } | undefined;

  constructor(settings: DoctorSettings, { env }: CommandIo) {
    this.settings = settings;
    this.env = env;
    this.secrets.add('the key', settings.apiKey);
    this.secrets.add('the password', settings.account?.password);
    this.options = { baseUrl: settings.url };
    this.calls = new ServiceClient(settings, { keepAlive: true });
  }

  get replies(): readonly ReplyAnswer[] {
    return this.calls.answers.filter((answer) => answer.kind === 'reply');
  }

  /** Whether no further call makes sense: the user interrupts, or the service limits the rate. */
  get isOver(): boolean {
    return this.calls.isInterrupted || this.replies.some(({ status }) => status === 429);
  }
}

/**
 * `ok`: as the library expects. `warn`: works, but read on. `fail`: the guard can't work so. `unknown`: could
 * not be determined.
 */
export type Outcome = 'ok' | 'warn' | 'fail' | 'unknown';

export interface Check {
  readonly id: string;
  readonly outcome: Outcome;
  /** One or two sentences, without any text of a reply. */
  readonly text: string;
}

class Findings {
  readonly checks: Check[] = [];
  readonly ok = this.#adder('ok');
  readonly warn = this.#adder('warn');
  readonly fail = this.#adder('fail');
  readonly unknown = this.#adder('unknown');

  get hasFailure(): boolean {
    return this.checks.some(({ outcome }) => outcome === 'fail');
  }

  #adder(outcome: Outcome): (id: string, text: string) => void {
    return (id, text) => void this.checks.push({ id, outcome, text });
  }
}
