import type { Verdict } from '../contract/verdict.js';

/** Refusals of so many different tokens, and not one success: most likely not the users are wrong, but the key or the URL. */
const SUSPICIOUS_REFUSALS = 20;

/** Notices when every token is refused since the start. It changes no answer. */
export class Suspicion {
  readonly #tell: (suspected: boolean) => void;
  readonly #refused = new Set<string>();
  #state: 'watching' | 'suspected' | 'cleared' = 'watching';

  /** `tell` hears once that everybody is refused, and then once that somebody was not. */
  constructor(tell: (suspected: boolean) => void) {
    this.#tell = tell;
  }

  /** Takes in a verdict on a token, known by its digest. */
  observe(token: string, { kind }: Verdict<unknown>): void {
    if (this.#state === 'cleared' || kind === 'unavailable') return;
    if (kind === 'accepted') this.#clear();
    else if (this.#state === 'watching') this.#count(token);
  }

  #count(token: string): void {
    this.#refused.add(token);
    if (this.#refused.size < SUSPICIOUS_REFUSALS) return;
    this.#state = 'suspected';
    this.#refused.clear();
    this.#tell(true);
  }

  #clear(): void {
    const wasSuspected = this.#state === 'suspected';
    this.#state = 'cleared';
    this.#refused.clear();
    if (wasSuspected) this.#tell(false);
  }
}
