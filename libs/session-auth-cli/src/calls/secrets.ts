import { randomBytes } from 'node:crypto';

/** A short secret, or a word such as `sessions`: the sentences of the commands have it, whatever the secret is. */
const COMMON = /^(?:.{1,3}|[a-z]{1,12})$/i;

/** The kind of the secrets of a session. */
export const TOKENS = 'a token or an IV';

/** Values that must not be printed. */
export class Secrets {
  readonly #kinds = new Map<string, string>();

  /** Adds secrets of a kind, such as `the key`. */
  add(kind: string, ...values: readonly (string | undefined)[]): void {
    for (const value of values) if (value) this.#kinds.set(value, kind);
  }

  kindsIn(text: string): readonly string[] {
    return this.#forms().flatMap(([form, kind]) => (text.includes(form) ? [kind] : []));
  }

  /** Returns the text without secrets. The texts hold none; this is the second line of defence. */
  mask(text: string): string {
    return this.#forms()
      .filter(([form]) => !COMMON.test(form))
      .reduce((masked, [form]) => masked.replaceAll(form, () => '***'), text);
  }

  #forms(): (readonly [form: string, kind: string])[] {
    return [...this.#kinds].flatMap(([value, kind]) =>
      [value, encodeURIComponent(value), Buffer.from(value).toString('base64url')].map(
        (form) => [form, kind] as const,
      ),
    );
  }
}

/** A random text of visible ASCII that no service has issued, and no user is named. */
export function randomText(): string {
  return `trial-${randomBytes(18).toString('hex')}`;
}
