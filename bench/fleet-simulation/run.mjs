// Computes the load of a large fleet on its session service and a shared store, by formulas, and checks these
// by a simulation of a small fleet.
import { readFile, writeFile } from 'node:fs/promises';
import { chart } from './chart.mjs';
import { markdownReport } from './report.mjs';
import { validate } from './validation.mjs';

const read = (name) => readFile(new URL(name, import.meta.url), 'utf8');

const measured = /^## memory: Memory for 100,000 [^]*?^\| nestjs-session-auth \| ([\d.]+) \| MB/m.exec(
  await read('../RESULTS.md'),
);
if (!measured) throw new Error('bench/RESULTS.md has no figure for the memory of 100,000 cached sessions');
const bytesPerEntry = Math.round((Number(measured[1]) * 1e6) / 100_000);

const validated = validate();
const report = await markdownReport(validated, JSON.parse(await read('redis.json')), bytesPerEntry);
console.log(report);

if (validated.every(({ isWithin }) => isWithin)) {
  await writeFile(new URL('RESULTS.md', import.meta.url), report);
  await writeFile(new URL('scaling.svg', import.meta.url), chart());
  await import('../quote.mjs');
} else {
  console.error('The formulas deviate from the simulation: nothing was written.');
  process.exitCode = 1;
}
