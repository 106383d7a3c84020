import { isIP } from 'node:net';

const IPV6 = /^\[([\da-f:.]+)\](?::\d{0,5})?$/;
const NAME = /^([a-z\d_-]+(?:\.[a-z\d_-]+)*)\.?(?::\d{0,5})?$/;

/** What the header `Host` of a request names: a host, in lower case and without a port; undefined when it names none. */
export function hostOf(header: string): string | undefined {
  const text = header.toLowerCase();
  const address = IPV6.exec(text)?.[1];
  if (address !== undefined) return isIP(address) === 6 ? address : undefined;
  return NAME.exec(text)?.[1];
}

/**
 * The hosts that the demo answers to: every IP address, the names of this machine for itself, and the names that it is
 * given. A page of another site can point its own name at this machine, and would then count as the demo's own page in a
 * browser; it cannot become one of these.
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  readonly #suffixes: readonly string[];

  /** @param names - in lower case; one that begins with a dot stands for every name that ends with it */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', ...names.filter((name) => !name.startsWith('.'))]);
    this.#suffixes = ['.localhost', ...names.filter((name) => name.startsWith('.'))];
  }

  include(host: string): boolean {
    return isIP(host) !== 0 || this.#names.has(host) || this.#suffixes.some((suffix) => host.endsWith(suffix));
  }
}
