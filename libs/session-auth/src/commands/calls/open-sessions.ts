import { type Answer, statusOf } from './answer.js';

/** A session that a command opened. */
export interface OpenSession {
  readonly authIv: string | undefined;
  /** Tokens of the session, as issued: later ones replaced earlier ones. */
  readonly tokens: string[];
}

/** Signs out, also after an interruption. Never rejects. */
type SignOut = (token: string, authIv: string | undefined) => Promise<Answer>;

/** The sessions of a command that are not signed out yet. */
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

  /** Signs out the sessions that are still open. Returns the number of failures. */
  async endAll(signOut: SignOut): Promise<number> {
    let left = 0;
    for (const session of this.#open) if (!(await end(session, signOut))) left += 1;
    this.#open.clear();
    return left;
  }
}

async function end({ tokens, authIv }: OpenSession, signOut: SignOut): Promise<boolean> {
  let isRefused = false;
  for (const token of tokens.toReversed()) {
    const status = statusOf(await signOut(token, authIv));
    if (status === 200 || status === 202 || status === 204) return true;
    isRefused ||= status === 401 || status === 404;
  }
  return isRefused;
}
