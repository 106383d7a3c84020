/** `ok`: as the library expects. `warn`: works, but read on. `fail`: the guard can't work so. `unknown`: could not be determined. */
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
