import { isIP } from 'node:net';

const IPV6 = /^\[([\da-f:.]+)\](?::\d{0,5})?$/;
const NAME = /^([a-z\d_-]+(?:\.[a-z\d_-]+)*)\.?(?::\d{0,5})?$/;

/**
 * Returns the host of a `Host` header in lower case, without the port; undefined if the header is malformed.
 */
export function hostOf(header: string): string | undefined {
  const text = header.toLowerCase();
  const address = IPV6.exec(text)?.[1];
  if (address !== undefined) return isIP(address) === 6 ? address : undefined;
  return NAME.exec(text)?.[1];
}

/**
 * Holds the hosts that the demo answers to: every IP address, localhost, and the given names. Another site
 * can point its own name at this machine, and a browser would then treat its page as the demo's own (DNS
 * rebinding).
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  readonly #suffixes: readonly string[];

  /** @param names - in lower case; a name that begins with a dot allows every name that ends with it */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', ...names.filter((name) => !name.startsWith('.'))]);
    this.#suffixes = ['.localhost', ...names.filter((name) => name.startsWith('.'))];
  }

  include(host: string): boolean {
    return (
      isIP(host) !== 0 || this.#names.has(host) || this.#suffixes.some((suffix) => host.endsWith(suffix))
    );
  }
}
