export class Count {
  readonly #times = new Map<string, number>();

  add(name: string): void {
    this.#times.set(name, (this.#times.get(name) ?? 0) + 1);
  }

  get sum(): number {
    return [...this.#times.values()].reduce((sum, times) => sum + times, 0);
  }

  toString(): string {
    return [...this.#times]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([name, times]) => `${name}: ${times}`)
      .join(', ');
  }
}

/** Counts and measurements of the soak's load and faults. */
export class Figures {
  readonly requests = new Count();
  readonly replies = new Count();
  readonly sessions = new Count();
  readonly faults = new Count();
  worstReplyMs = 0;
  worstRecoveryMs = 0;
}

export function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

export function printTable(rows: readonly (readonly [name: string, figure: string | number])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, figure] of rows) console.log(`| ${name.padEnd(width)} | ${figure}`);
}
