import { parseArgs } from 'node:util';
import { observe, type RunOrder } from './observe.js';
import { resultsOf } from './results-page.js';
import { SABOTAGES, type Sabotage } from './settings.js';

const SMOKE_MINUTES = 1 / 3;
const SABOTAGE_MINUTES = 0.6;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    /** Of the faults; the effects depend on the machine too. */
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    rate: { type: 'string', default: '1.5' },
    /** Runs with this bug alone. */
    sabotage: { type: 'string' },
    /** Runs for 20 seconds, without the deliberate bugs. */
    smoke: { type: 'boolean', default: false },
    /** Writes RESULTS.md (run.mjs). */
    record: { type: 'boolean', default: false },
  },
});
export const seed = Number(values.seed);
const [minutes, rate] = [values.smoke ? SMOKE_MINUTES : Number(values.minutes), Number(values.rate)];
if (values.sabotage !== undefined && !(values.sabotage in SABOTAGES)) {
  throw new Error(`--sabotage is one of ${Object.keys(SABOTAGES).join(', ')}`);
}

async function shown(order: RunOrder): ReturnType<typeof observe> {
  const report = await observe(order);
  const width = Math.max(...report.rows.map(([name]) => name.length));
  for (const [name, figure] of report.rows) console.log(`| ${name.padEnd(width)} | ${figure}`);
  for (const detail of report.details) console.log(detail);
  return report;
}

const sabotage = values.sabotage as Sabotage | undefined;
const report = await shown({ minutes, seed, rate, sabotage });
let isRight = report.violations.length === 0;
/** The recorded part of a whole run. */
export let results: string | undefined;
if (!values.smoke && sabotage === undefined) {
  const sabotaged = [];
  for (const bug of Object.keys(SABOTAGES) as Sabotage[]) {
    const run = await shown({ minutes: SABOTAGE_MINUTES, seed, rate, sabotage: bug });
    sabotaged.push({ ...run, sabotage: bug });
    isRight &&= run.violations.length > 0;
  }
  if (values.record) results = resultsOf(report, sabotaged);
}
if (!isRight) process.exitCode = 1;
