import { appendFileSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const IS_LONG_FORM = process.env.LONG_TESTS === '1';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = `${ROOT}dist/left-out/`;

/**
 * Returns whether this run has its long form (`LONG_TESTS=1`). In the short form, which `npm test` runs, what
 * is left out is recorded: `node test/left-out.mjs` lists it.
 */
export function inLongForm(leftOut: string): boolean {
  if (!IS_LONG_FORM) record(leftOut);
  return IS_LONG_FORM;
}

/**
 * Returns all items in the long form, and the last alone in the short one, for suites whose outcome does not
 * depend on them.
 */
export function oneOf<Item>(what: string, items: readonly Item[]): readonly Item[] {
  return inLongForm(`all but one of ${items.length} ${what}`) ? items : items.slice(-1);
}

function record(leftOut: string): void {
  const suite = suitePath();
  if (suite === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  appendFileSync(
    `${FOLDER}nest-${process.env.NEST_MAJOR ?? '12'}.txt`,
    `${suite.replace(ROOT, '')}: ${leftOut}\n`,
  );
}

/** The file of the suite; `undefined` outside of Jest. */
function suitePath(): string | undefined {
  const { expect } = globalThis as { readonly expect?: { getState(): { readonly testPath?: string } } };
  return expect?.getState().testPath;
}
