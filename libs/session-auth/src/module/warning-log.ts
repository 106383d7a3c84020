import { Logger } from '@nestjs/common';
import type { Warnings } from '../client/user-details-verdict.js';

const ONCE_EVERY_MS = 60_000;

/** Writes notices to Nest's logger, each kind at most once a minute. */
export class WarningLog implements Warnings {
  readonly #logger = new Logger('SessionAuth');
  readonly #writtenAt = new Map<string, number>();

  unexpectedReply(status: number): void {
    this.#write('unexpected authority reply', `${status} with a body. This is not the session service: check baseUrl.`);
  }

  tokenMismatch(): void {
    this.#write(
      'token mismatch',
      "user_details answered with another auth_token than was presented, which may be another caller's answer. By default (tokenEcho: 'deny') " +
        "its caller gets 503. Look for a proxy that mixes up replies; set tokenEcho: 'warn' only if the service gives new tokens on purpose.",
    );
  }

  cachingForbidden(): void {
    this.#write(
      'caching forbidden',
      'the session service forbids caching its answers (Cache-Control: no-store, no-cache or max-age=0, or Age), so cache.ttlMs has no effect and ' +
        'every check calls the service. Have the service or the proxy before it send Cache-Control: private to user_details.',
    );
  }

  /** A call to the store of `cache.store` failed, or took too long. */
  storeUnavailable(): void {
    this.#write(
      'session store unavailable',
      'the session service is asked instead, and sign-outs reach other instances late. Check cache.store.',
    );
  }

  /** Messages of other instances do not arrive. */
  busInterrupted(reason = 'The store did not say why.'): void {
    this.#write(
      'revocation bus interrupted',
      `sign-outs on other instances take effect here after cache.ttlMs at the latest. ${reason} Check cache.store and its rights.`,
    );
  }

  /** Wall clocks are more than a minute apart. */
  clockDiffers(): void {
    this.#write(
      'clock differs',
      'the clocks of this host and of another instance are more than a minute apart, so that sessions in cache.store expire early. Synchronise them (NTP).',
    );
  }

  /** A socket of socket.io was open before its session could be checked. */
  unprotectedSocket(): void {
    this.#write('unprotected socket', 'an open socket of socket.io was disconnected. Call SessionSockets.protect(server) in afterInit.');
  }

  /** The service refuses everybody. */
  misconfigurationSuspected(): void {
    this.#logger.error('every token is refused since the start: most likely apiKey or baseUrl is wrong. Users get 401 or 403 as before.');
  }

  /** Tells once, at bootstrap, that keys and tokens would cross a network unencrypted. */
  plainText(): void {
    this.#write('plain text', 'baseUrl is http: and not on this host; keys and tokens can be read on the way. Use https.');
  }

  #write(kind: string, text: string): void {
    const now = performance.now();
    if (now - (this.#writtenAt.get(kind) ?? -Infinity) < ONCE_EVERY_MS) return;
    this.#writtenAt.set(kind, now);
    this.#logger.warn(`${kind}: ${text}`);
  }
}
