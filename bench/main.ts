import { writeFile } from 'node:fs/promises';
import { Stage } from './stage.js';
import type { Question } from './question.js';
import { cachedCheck } from './questions/cached-check.js';
import { fillByOne } from './questions/fill-by-one.js';
import { floodOfMany } from './questions/flood-of-many.js';
import { floodOfOne } from './questions/flood-of-one.js';
import { floodOfStrangers } from './questions/flood-of-strangers.js';
import { growth } from './questions/growth.js';
import { guardedCached } from './questions/guarded-cached.js';
import { guardedUncached } from './questions/guarded-uncached.js';
import { importing } from './questions/import.js';
import { memory } from './questions/memory.js';
import { oneAccount } from './questions/one-account.js';
import { size } from './questions/size.js';
import { stampede } from './questions/stampede.js';
import { switches } from './questions/switches.js';
import { start } from './questions/start.js';
import { uncachedCheck } from './questions/uncached-check.js';
import { waiting } from './questions/waiting.js';
import { chart } from './report/chart.js';
import { printAnswer } from './report/console-table.js';
import { environmentLines } from './report/environment.js';
import { markdownReport, type Answered } from './report/markdown.js';
import { nginxVersion } from './variants/nginx.js';

const QUESTIONS = [
  cachedCheck,
  uncachedCheck,
  guardedCached,
  guardedUncached,
  switches,
  stampede,
  floodOfOne,
  floodOfMany,
  floodOfStrangers,
  oneAccount,
  fillByOne,
  waiting,
  memory,
  growth,
  importing,
  start,
  size,
];
const RESULTS = new URL('../../bench/', import.meta.url);

// The workers end with this process, and nginx with its exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const names = process.argv.slice(2);
const unknown = names.filter((name) => !QUESTIONS.some((question) => question.name === name));

if (unknown.length > 0) {
  console.error(
    `No such question: ${unknown.join(', ')}. There are: ${QUESTIONS.map(({ name }) => name).join(', ')}`,
  );
  process.exitCode = 1;
} else if (names.length > 0) {
  for (const question of QUESTIONS.filter(({ name }) => names.includes(name))) await answer(question);
} else {
  await answerAll();
}

/**
 * RESULTS.md holds one whole run and nothing else: a figure of another day would stand beside figures of this
 * one.
 */
async function answerAll(): Promise<void> {
  const answers: Answered[] = [];
  for (const question of QUESTIONS) answers.push(await answer(question));
  await writeFile(
    new URL('RESULTS.md', RESULTS),
    markdownReport(answers, environmentLines(await nginxVersion())),
  );
  await writeFile(new URL('results.svg', RESULTS), chart(answers.flatMap(({ findings }) => findings)));
}

async function answer(question: Question): Promise<Answered> {
  const stage = new Stage();
  try {
    const answered = { ...(await question.ask(stage)), question };
    printAnswer(answered);
    return answered;
  } finally {
    await stage.close();
  }
}
