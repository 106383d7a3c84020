import type { TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';

/** Number of different tokens that must be refused, without one success. Then the key or the URL is probably wrong, rather than the tokens. */
const MIN_REFUSED_TOKENS = 20;

/** Detects that every token has been refused since startup. It does not affect verdicts. */
export class MisconfigurationDetector {
  readonly #onChange: (suspected: boolean) => void;
  readonly #refusedTokens = new Set<TokenKey>();
  #state: 'watching' | 'suspected' | 'cleared' = 'watching';

  /** `onChange` is called once with `true` when a misconfiguration is detected, and then once with `false` when a token is authenticated. */
  constructor(onChange: (suspected: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Records the verdict on the token with this digest. */
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
