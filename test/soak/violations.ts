/** The number of violations of each kind that are printed. */
const SHOWN = 3;
/** Of the time of a request. */
const STARVED_PART = 0.2;

export class Violations {
  /** Replies that were late on a busy machine. */
  byMachine = 0;
  readonly #kinds = new Map<string, { times: number; examples: string[] }>();

  add(kind: string, example: string): void {
    const seen = this.#kinds.get(kind) ?? { times: 0, examples: [] };
    this.#kinds.set(kind, seen);
    seen.times += 1;
    if (seen.examples.length < SHOWN) seen.examples.push(example);
  }

  /**
   * The same, but a machine that kept the processes waiting for much of the time is to blame: it is counted
   * apart.
   */
  late(
    kind: string,
    example: string,
    { ms, lostMs }: { readonly ms: number; readonly lostMs: number },
  ): void {
    if (lostMs > ms * STARVED_PART) this.byMachine += 1;
    else this.add(kind, example);
  }

  /** The same when `holds` is false. */
  unless(holds: boolean, kind: string, example: string): void {
    if (!holds) this.add(kind, example);
  }

  get count(): number {
    return [...this.#kinds.values()].reduce((sum, { times }) => sum + times, 0);
  }

  toString(): string {
    return [...this.#kinds]
      .map(([kind, { times, examples }]) => [`${times} x ${kind}`, ...examples].join('\n    '))
      .join('\n');
  }
}
