import type { StatusMap } from '../../../session-auth/src/contract/status-outcomes.js';
import type { Answer, ReplyAnswer } from '../calls/answer.js';
import { randomText, Secrets } from '../calls/secrets.js';
import { type Account, ServiceClient, type ServiceSettings } from '../calls/service-client.js';
import type { CommandIo } from '../command-line/command-io.js';

/** Answers to one call each, by the headers of the call. */
export interface Refusals {
  junkToken?: Answer;
  noToken?: Answer;
  noKey?: Answer;
  wrongKey?: Answer;
  wrongPath?: Answer;
  /** The token after its sign-out. */
  endedToken?: Answer;
  /** The IV of the sign-in absent, or another one. */
  noIv?: Answer;
  otherIv?: Answer;
}

/** Options of the module that the examination advises. `baseUrl` is always one of them, as it was given. */
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

/** State of one examination. */
export class Examination {
  readonly findings = new Findings();
  readonly secrets = new Secrets();
  readonly calls: ServiceClient;
  readonly refusals: Refusals = {};
  readonly options: AdvisedOptions;
  readonly settings: DoctorSettings;
  readonly env: CommandIo['env'];
  /** A token that the service never issued. */
  readonly junkToken = randomText();
  /** The answer to user_details with the token of a session, which the guard must accept. */
  sessionAnswer: { readonly answer: Answer; readonly token: string } | undefined;

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

/** The result of one check. */
export interface Check {
  readonly id: string;
  readonly outcome: Outcome;
  /** One or two sentences, without any text of a reply. */
  readonly text: string;
}

export class Findings {
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
