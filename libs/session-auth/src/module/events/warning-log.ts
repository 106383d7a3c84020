import { type ExecutionContext, Logger } from '@nestjs/common';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { Warnings } from '../../client/user-details-verdict.js';
import type { FailedRule } from '../../guard/access-rule.js';
import type { Misconfiguration } from '../../verifier/service-status.js';

const ONCE_EVERY_MS = 60_000;
/**
 * Kinds and fields that are logged at most within that time. A record class has fewer fields, unless it
 * contains itself.
 */
const MAX_SUBJECTS = 500;

/** Writes warnings to Nest's logger, each kind, and each field of the user record, at most once a minute. */
export class WarningLog implements Warnings {
  readonly #logger = new Logger('SessionAuth');
  readonly #prefix: string;
  readonly #writtenAt = new Map<string, number>();

  /**
   * @param authority name of the registration, which is written before each line, unless it is the one
   * without a name
   */
  constructor(authority = DEFAULT_AUTHORITY) {
    this.#prefix = authority === DEFAULT_AUTHORITY ? '' : `${authority}: `;
  }

  /** The service answered 404 with a body, which the session service never does. */
  unexpectedReply(status: number): void {
    this.#write('unexpected reply', `${status} with a body. This is not the session service: check baseUrl.`);
  }

  /** A TLS connection to the service failed, with this code of Node.js. */
  tlsFailed(code: string): void {
    this.#write(
      'TLS failure',
      `the connection to the session service failed with ${code}. Check its certificate, and NODE_EXTRA_CA_CERTS or http.httpsAgent.`,
    );
  }

  /** undici could not be loaded, or is another package. Written as an error. */
  loadFailed(error: unknown): void {
    this.#logger.error(`${this.#prefix}no call can be sent, so that every check gets 503. ${String(error)}`);
  }

  /** The record of a reply contains a token other than the one presented. */
  tokenMismatch(): void {
    this.#write(
      'token mismatch',
      "user_details answered with another auth_token than was presented, which may be another caller's answer. By default (tokenEcho: 'deny') " +
        "its caller gets 503. Look for a proxy that mixes up responses; set tokenEcho: 'warn' only if the service issues new tokens on purpose.",
    );
  }

  /**
   * A user record is invalid, so that its user is locked out. Names the field or the class, and neither the
   * value nor the user.
   */
  invalidRecord(field: string, requirement: string): void {
    const remedy = 'Correct the record there, or the decorators of userRecord.';
    this.#write(
      'invalid user record',
      `${requirement}. Its user gets 503 while the session service answers so. ${remedy}`,
      field,
    );
  }

  /** A reply forbids caching, so that the cache has no effect. */
  cachingForbidden(): void {
    this.#write(
      'caching forbidden',
      'the session service forbids caching its answers (Cache-Control: no-store, no-cache or max-age=0, or Age), so cache.ttlMs has no effect and ' +
        'every check calls the service. Have the service or the proxy before it send Cache-Control: private to user_details.',
    );
  }

  /** A call to the store of `cache.store` failed or timed out. */
  storeUnavailable(): void {
    this.#write(
      'session store unavailable',
      'checks call the session service instead, and sign-outs reach other instances late. Check cache.store.',
    );
  }

  /** Messages of other instances do not arrive. */
  revocationBusInterrupted(reason = 'The reason is unknown.'): void {
    this.#write(
      'revocation bus interrupted',
      `sign-outs on other instances take effect here after cache.ttlMs at the latest. ${reason} Check cache.store and its permissions.`,
    );
  }

  /** A message of another instance can't be opened. Called once. */
  unreadableMessages(): void {
    this.#write(
      'unreadable messages',
      'no secret of this instance opens the messages of another, so that their sign-outs do not reach each other. Give all instances one secret and ' +
        'one spelling of baseUrl, and each application its own prefix.',
    );
  }

  /** The application closes, and the store was not available in time. */
  revocationsLost(count: number): void {
    this.#write(
      'revocations lost',
      `${count} reached neither cache.store nor the other instances before this application closed. They accept those sessions until cache.ttlMs is over.`,
    );
  }

  /** The wall clocks of two instances are more than a minute apart. */
  clockDiffers(): void {
    this.#write(
      'clock differs',
      'the clocks of this host and of another instance are more than a minute apart, so that sessions in cache.store expire early. Synchronise them (NTP).',
    );
  }

  /** A subscriber of `SessionAuthEvents.decisions$` threw or rejected. */
  decisionSubscriberFailed(): void {
    this.#write(
      'decision subscriber failed',
      'a subscriber of SessionAuthEvents.decisions$ threw or rejected. Catch its errors there.',
    );
  }

  /**
   * A rule could not be evaluated: it threw, rejected or took too long. Names the handler, the rule and the
   * class of the error, whose message may contain a secret.
   */
  ruleFailed(rule: FailedRule, context: ExecutionContext): void {
    const { requirement, error, isLate } = rule;
    const subject = `${requirement.text ?? requirement.kind} of ${context.getClass().name}.${context.getHandler().name}`;
    const what = isLate ? 'took longer than timeoutMs' : `failed with ${classNameOf(error)}`;
    this.#write(
      'rule failed',
      `${subject} ${what}. Its calls get 503 (ACCESS_CHECK_FAILED). To deny, return false; to answer otherwise, throw an HttpException.`,
      subject,
    );
  }

  /** A warning of the guard or of a plugin. */
  warn(kind: string, text: string, subject?: string): void {
    this.#write(kind, text, subject);
  }

  /** The option `authority` returned no name. */
  noAuthority(): void {
    this.#write(
      'no authority',
      'the option authority threw, or returned something other than a string: the call got 401. Correct the function.',
    );
  }

  /** The service refuses everyone. Written as an error. */
  misconfigurationSuspected(misconfiguration: Misconfiguration): void {
    if (!this.#isDue(`misconfiguration ${misconfiguration}`)) return;
    if (misconfiguration === 'since startup') {
      this.#logger.error(
        `${this.#prefix}every token has been refused since startup: apiKey or baseUrl is probably wrong. Users still get 401 or 403.`,
      );
    } else {
      this.#logger.error(
        `${this.#prefix}sessions of several users that were accepted before are refused: apiKey or baseUrl is probably wrong now, or the session ` +
          'service has ended all sessions. Users still get 401 or 403.',
      );
    }
  }

  /** A session was accepted after {@link misconfigurationSuspected}. */
  sessionsAcceptedAgain(): void {
    if (this.#isDue('accepted again')) this.#logger.log(`${this.#prefix}sessions are accepted again`);
  }

  /** The API key and tokens would cross a network unencrypted. Called once, at bootstrap. */
  unencryptedBaseUrl(): void {
    this.#write(
      'plain text',
      'baseUrl is http: and not on this host, so that keys and tokens can be read in transit. Use https.',
    );
  }

  #write(kind: string, text: string, subject = ''): void {
    if (this.#isDue(`${kind} ${subject}`)) this.#logger.warn(`${this.#prefix}${kind}: ${text}`);
  }

  /** Returns whether a line was not written within the last minute. If so, counts it as written. */
  #isDue(key: string): boolean {
    this.#removeWrittenBefore(performance.now() - ONCE_EVERY_MS);
    if (this.#writtenAt.has(key) || this.#writtenAt.size >= MAX_SUBJECTS) return false;
    this.#writtenAt.set(key, performance.now());
    return true;
  }

  #removeWrittenBefore(timeMs: number): void {
    for (const [key, writtenAt] of this.#writtenAt) {
      if (writtenAt > timeMs) return;
      this.#writtenAt.delete(key);
    }
  }
}

const CLASS_NAME = /^[\w$]{1,100}$/;

/** Returns the name of an error's class. Anything may be thrown, even an object whose members throw. */
function classNameOf(error: unknown): string {
  try {
    const name: unknown = (error as object).constructor.name;
    return typeof name === 'string' && CLASS_NAME.test(name) ? name : 'an error of an unnamed class';
  } catch {
    return 'an error of an unnamed class';
  }
}
