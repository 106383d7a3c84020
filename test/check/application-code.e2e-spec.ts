import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CompiledProgram, compileProgram } from '../support/program.js';
import { platforms } from '../support/platforms.js';
import { type Expected, type Misbehaviour, type Outcome, type Row, TABLE } from './application-code-rows.js';

const ROWS = Object.entries(TABLE).flatMap(([place, expectations]) =>
  (Object.entries(expectations) as [Misbehaviour, Expected][]).map(
    ([misbehaviour, [answer, line, strays = 0]]) => ({ place, misbehaviour, answer, line, strays }),
  ),
);

let program: CompiledProgram;
beforeAll(async () => {
  program = await compileProgram(
    join(import.meta.dirname, 'application-code.process.ts'),
    join(import.meta.dirname, 'application-code-places.ts'),
  );
});
afterAll(() => program.remove());

/** Runs rows in one process of their own: that of the tests handles rejections and exceptions otherwise. */
async function run(platform: string, rows: readonly Row[]): Promise<Map<string, Outcome>> {
  const child = fork(program.file, [platform]);
  child.send(rows);
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The process ended: ${code}`)));
  const [outcomes] = (await Promise.race([once(child, 'message'), ended])) as [Outcome[]];
  return new Map(outcomes.map((outcome) => [keyOf(outcome), outcome]));
}

/** Lines of what a store did not take, after its first line. */
const AT_CLOSE = 'revocations lost: ';
const LATE: ReadonlySet<Misbehaviour> = new Set(['rejects late', 'never settles']);

const keyOf = ({ place, misbehaviour }: Row): string => `${place} ${misbehaviour}`;

describe.each(platforms('Express'))('code of the application on %s', (platform) => {
  let outcomes: Map<string, Outcome>;
  beforeAll(async () => {
    outcomes = await run(
      platform,
      ROWS.map(({ place, misbehaviour }) => ({ place, misbehaviour })),
    );
  }, 300_000);

  it.each(ROWS)('at $place that $misbehaviour: $answer, and the process lives [P60] [P76]', (row) => {
    const { answer, lines = [], strays } = outcomes.get(keyOf(row)) ?? {};
    expect({ answer, strays }).toEqual({
      answer: row.answer,
      strays: Array(row.strays).fill(expect.anything()),
    });
    expect(lines.join()).not.toContain('hunter2');
    const own = lines.filter((line) => !line.startsWith(AT_CLOSE));
    // A store may be slow because this process was busy: that is no fault of the store.
    if (own.length === 0 && row.place.endsWith('of the store') && LATE.has(row.misbehaviour)) return;
    expect(own).toEqual(row.line ? [expect.stringMatching(row.line)] : []);
  });
});
