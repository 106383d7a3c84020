import type { StatusMap } from '../../../session-auth/src/contract/status-outcomes.js';
import type { Answer } from '../calls/answer.js';
import { randomText, Secrets } from '../calls/secrets.js';
import { type Account, ServiceClient, type ServiceSettings } from '../calls/service-client.js';
import { type CommandIo, UsageError } from '../command-line/command-io.js';
import type { CommandLine, OptionSpecs, OptionValues } from '../command-line/command-line.js';
import { readAccount, readServiceSettings, SERVICE_OPTIONS } from '../command-line/service-settings.js';

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
    const { url, apiKey, account } = settings;
    this.settings = settings;
    this.env = env;
    this.secrets.addAs('the key', apiKey);
    this.secrets.addAs('the password', account?.password);
    this.options = { baseUrl: url };
    this.calls = new ServiceClient(settings, { keepAlive: true });
  }

  /** Whether no further call makes sense: the user interrupts, or the service limits the rate. */
  get isOver(): boolean {
    return (
      this.calls.isInterrupted ||
      this.calls.answers.some((answer) => answer.kind === 'reply' && answer.status === 429)
    );
  }
}

const { url, timeout, json } = SERVICE_OPTIONS;

const OPTIONS = {
  url,
  user: {
    type: 'string',
    value: 'NAME',
    about: 'signs in as this user, and out again; without it, only refusals are examined',
  },
  redis: {
    type: 'string',
    value: 'URL',
    about: 'also examines the Redis of a shared cache, such as redis://user@host:6379',
  },
  timeout,
  json,
} as const satisfies OptionSpecs;

/** The command line of `doctor`. */
export const COMMAND_LINE = {
  name: 'doctor',
  about:
    'Examines a session service with few calls, and prints the options that follow. Changes nothing but its own sessions,\n' +
    'which it signs out. Prints no key, token, IV or password.',
  options: OPTIONS,
  environment: {
    SESSION_SERVICE_API_KEY: 'the application key (required)',
    SESSION_SERVICE_PASSWORD: 'the password of --user',
    REDIS_PASSWORD: 'the password of the user of --redis',
  },
  exitCodes: ['nothing fails', 'something fails, or the command was interrupted'],
} as const satisfies CommandLine<typeof OPTIONS>;

/** The settings of `doctor`. */
export interface DoctorSettings extends ServiceSettings {
  readonly account: Account | undefined;
  readonly redis: { readonly url: URL; readonly password: string | undefined } | undefined;
  readonly json: boolean;
}

/**
 * Validates the options and the environment. @throws UsageError that names the wrong setting, without its
 * value
 */
export function readSettings(options: OptionValues<typeof OPTIONS>, io: CommandIo): DoctorSettings {
  const { REDIS_PASSWORD: password } = io.env;
  return {
    ...readServiceSettings(options, io),
    account: readAccount('user', options.user, 'SESSION_SERVICE_PASSWORD', io),
    redis: options.redis === undefined ? undefined : { url: readRedisUrl(options.redis), password },
  };
}

function readRedisUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'redis:' && url?.protocol !== 'rediss:')
    throw new UsageError('--redis must be a redis: or rediss: URL.');
  if (url.password !== '') throw new UsageError('--redis must not hold a password. Set REDIS_PASSWORD.');
  return url;
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

/** The findings of the examination so far. */
export class Findings {
  readonly checks: Check[] = [];

  ok(id: string, text: string): void {
    this.#add(id, 'ok', text);
  }

  warn(id: string, text: string): void {
    this.#add(id, 'warn', text);
  }

  fail(id: string, text: string): void {
    this.#add(id, 'fail', text);
  }

  unknown(id: string, text: string): void {
    this.#add(id, 'unknown', text);
  }

  /** Returns whether there is a check with this id. */
  has(id: string): boolean {
    return this.checks.some((check) => check.id === id);
  }

  /** Whether something fails. */
  get hasFailure(): boolean {
    return this.checks.some(({ outcome }) => outcome === 'fail');
  }

  #add(id: string, outcome: Outcome, text: string): void {
    this.checks.push({ id, outcome, text });
  }
}
