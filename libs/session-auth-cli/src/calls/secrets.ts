import { randomBytes } from 'node:crypto';

const MIN_LENGTH = 4;

/** The kind of the secrets of a session. */
export const TOKENS = 'a token or an IV';

/** Values that must not be printed: the key, the password, tokens and IVs of the examination. */
export class Secrets {
  readonly #kinds = new Map<string, string>();

  add(...values: readonly (string | undefined)[]): void {
    this.addAs(TOKENS, ...values);
  }

  /** Adds secrets of a kind, such as `the key`. */
  addAs(kind: string, ...values: readonly (string | undefined)[]): void {
    for (const value of values) if (value !== undefined && value.length > 0) this.#kinds.set(value, kind);
  }

  /** Returns the kinds of the secrets in a text. */
  kindsIn(text: string): readonly string[] {
    return this.#forms()
      .filter(({ form }) => text.includes(form))
      .map(({ kind }) => kind);
  }

  /** Returns the text without secrets. The texts hold none; this is the second line of defence. */
  mask(text: string): string {
    return this.#forms()
      .filter(({ form }) => form.length >= MIN_LENGTH)
      .reduce((masked, { form }) => masked.replaceAll(form, () => '***'), text);
  }

  #forms(): { readonly form: string; readonly kind: string }[] {
    return [...this.#kinds].flatMap(([value, kind]) =>
      [value, encodeURIComponent(value), Buffer.from(value).toString('base64url')].map((form) => ({
        form,
        kind,
      })),
    );
  }
}

/** Returns a random text of visible ASCII that no service has issued, and no user is named. */
export function randomText(): string {
  return `trial-${randomBytes(18).toString('hex')}`;
}
