import { randomBytes } from 'node:crypto';

/** A short secret, or a word such as `sessions`: the sentences of the commands have it, whatever the secret is. */
const COMMON = /^(?:.{1,3}|[a-z]{1,12})$/i;

export const TOKENS = 'a token or an IV';

export class Secrets {
  readonly #kinds = new Map<string, string>();

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

/** A token that no service has issued, or a name that no user has. */
export function randomText(): string {
  return `trial-${randomBytes(18).toString('hex')}`;
}
