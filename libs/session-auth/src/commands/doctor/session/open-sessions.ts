import { statusOf } from '../calls/answer.js';
import type { Examination } from '../examination.js';

/** A session that the examination opened. */
export interface OpenSession {
  readonly authIv: string | undefined;
  /** Tokens of the session, as issued: later ones replaced earlier ones. */
  readonly tokens: string[];
}

/** The sessions of the examination that are not signed out yet. */
export class OpenSessions {
  readonly #open = new Set<OpenSession>();

  add(token: string, authIv: string | undefined): OpenSession {
    const session = { authIv, tokens: [token] };
    this.#open.add(session);
    return session;
  }

  /** The session was signed out. */
  ended(session: OpenSession): void {
    this.#open.delete(session);
  }

  /** Signs out what is still open. */
  async endAll(examination: Examination): Promise<void> {
    for (const session of this.#open) {
      const ended = await this.#end(session, examination);
      if (!ended)
        examination.findings.fail('session-left-open', 'A session of the examination could not be signed out. It ends when it expires.');
    }
    this.#open.clear();
  }

  async #end({ tokens, authIv }: OpenSession, { calls }: Examination): Promise<boolean> {
    let isRefused = false;
    for (const token of tokens.toReversed()) {
      const status = statusOf(await calls.signOut(token, authIv));
      if (status === 200 || status === 202 || status === 204) return true;
      isRefused ||= status === 401 || status === 404;
    }
    return isRefused;
  }
}
