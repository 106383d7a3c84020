import { randomBytes } from 'node:crypto';

const MIN_LENGTH = 4;

/** Values that must not be printed: the key, the password, tokens and IVs of the examination. */
export class Secrets {
  readonly #values = new Set<string>();

  add(...values: readonly (string | undefined)[]): void {
    for (const value of values) if (value !== undefined && value.length > 0) this.#values.add(value);
  }

  areIn(text: string): boolean {
    return [...this.#forms()].some((form) => text.includes(form));
  }

  /** Returns the text without secrets. The texts hold none; this is the second line of defence. */
  mask(text: string): string {
    return [...this.#forms()]
      .filter((form) => form.length >= MIN_LENGTH)
      .reduce((masked, form) => masked.replaceAll(form, () => '***'), text);
  }

  *#forms(): Generator<string> {
    for (const value of this.#values) {
      yield value;
      yield encodeURIComponent(value);
      yield Buffer.from(value).toString('base64url');
    }
  }
}

/** Returns a random text of visible ASCII that no service has issued, and no user is named. */
export function randomText(): string {
  return `trial-${randomBytes(18).toString('hex')}`;
}
