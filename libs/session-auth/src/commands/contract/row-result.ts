import type { ContractRow } from './row.js';

/** The result of one row. */
export interface RowResult {
  readonly row: Pick<ContractRow, 'id' | 'title'> & { readonly section: string };
  readonly outcome: 'ok' | 'fail' | 'skipped';
  /** Why it fails, or is skipped. Holds no text of a reply. */
  readonly text?: string;
  readonly seconds: number;
}

/** Returns how many rows have each outcome. */
export function countOutcomes(results: readonly RowResult[]): Readonly<Record<RowResult['outcome'], number>> {
  const counts = { ok: 0, fail: 0, skipped: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
}

/** Returns results by a text of theirs, in the order of their first result. */
export function groupResults(
  results: readonly RowResult[],
  textOf: (result: RowResult) => string,
): ReadonlyMap<string, readonly RowResult[]> {
  const groups = new Map<string, RowResult[]>();
  for (const result of results) {
    const group = groups.get(textOf(result));
    if (group) group.push(result);
    else groups.set(textOf(result), [result]);
  }
  return groups;
}
