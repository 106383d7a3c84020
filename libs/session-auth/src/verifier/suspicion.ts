import type { Verdict } from '../contract/verdict.js';

/** Refusals of so many different tokens, and not one success: most likely not the users are wrong, but the key or the URL. */
const SUSPICIOUS_REFUSALS = 20;

/** Notices when every token is refused since the start. It tells once, and changes no answer. */
export class Suspicion {
  readonly #tell: () => void;
  readonly #refused = new Set<string>();
  #settled = false;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  /** Takes in a verdict on a token, known by its digest. */
  observe(token: string, verdict: Verdict<unknown>): void {
    if (this.#settled || verdict.kind === 'unavailable') return;
    if (verdict.kind !== 'accepted') this.#refused.add(token);
    this.#settled = verdict.kind === 'accepted' || this.#refused.size >= SUSPICIOUS_REFUSALS;
    if (!this.#settled) return;
    this.#refused.clear();
    if (verdict.kind !== 'accepted') this.#tell();
  }
}
