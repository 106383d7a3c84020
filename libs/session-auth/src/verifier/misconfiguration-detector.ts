import type { TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';

/** Refusals of so many different tokens, and not one success: most likely not the users are wrong, but the key or the URL. */
const MIN_REFUSED_TOKENS = 20;

/** Notices when every token is refused since the start. It changes no answer. */
export class MisconfigurationDetector {
  readonly #onChange: (suspected: boolean) => void;
  readonly #refusedTokens = new Set<TokenKey>();
  #state: 'watching' | 'suspected' | 'cleared' = 'watching';

  /** `tell` hears once that everybody is refused, and then once that somebody was not. */
  constructor(tell: (suspected: boolean) => void) {
    this.#onChange = tell;
  }

  /** Takes in a verdict on a token, known by its digest. */
  record(tokenKey: TokenKey, { kind }: Verdict<unknown>): void {
    if (this.#state === 'cleared' || kind === 'unavailable') return;
    if (kind === 'authenticated') this.#clear();
    else if (this.#state === 'watching') this.#count(tokenKey);
  }

  #count(tokenKey: TokenKey): void {
    this.#refusedTokens.add(tokenKey);
    if (this.#refusedTokens.size < MIN_REFUSED_TOKENS) return;
    this.#state = 'suspected';
    this.#refusedTokens.clear();
    this.#onChange(true);
  }

  #clear(): void {
    const wasSuspected = this.#state === 'suspected';
    this.#state = 'cleared';
    this.#refusedTokens.clear();
    if (wasSuspected) this.#onChange(false);
  }
}
