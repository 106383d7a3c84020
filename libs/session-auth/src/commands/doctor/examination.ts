import { randomBytes } from 'node:crypto';
import type { StatusMap } from '../../contract/status-outcomes.js';
import type { CommandIo } from '../command-io.js';
import type { Answer } from '../calls/answer.js';
import { ServiceCalls } from './calls/service-calls.js';
import type { DoctorSettings } from './doctor-options.js';
import { Findings } from './findings.js';
import { Secrets } from '../calls/secrets.js';

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

/** State of one examination. */
export class Examination {
  readonly findings = new Findings();
  readonly secrets = new Secrets();
  readonly calls: ServiceCalls;
  readonly refusals: Refusals = {};
  readonly options: AdvisedOptions;
  readonly settings: DoctorSettings;
  readonly env: CommandIo['env'];
  /** A token that the service never issued. */
  readonly junkToken = randomText();
  /** The answer to user_details with the token of a session, which the guard must accept. */
  sessionAnswer: { readonly answer: Answer; readonly token: string } | undefined;

  constructor(settings: DoctorSettings, { env, interrupted }: CommandIo) {
    const { url, apiKey, timeoutMs, password } = settings;
    this.settings = settings;
    this.env = env;
    this.secrets.add(apiKey, password);
    this.options = { baseUrl: url };
    this.calls = new ServiceCalls({ baseUrl: url, apiKey, timeoutMs, interrupted });
  }

  /** Whether no further call makes sense: the user interrupts, or the service limits the rate. */
  get isOver(): boolean {
    return this.calls.isInterrupted || this.calls.answers.some((answer) => answer.kind === 'reply' && answer.status === 429);
  }
}

/** Returns a random text of visible ASCII that no service has issued. */
export function randomText(): string {
  return `doctor-${randomBytes(18).toString('hex')}`;
}
