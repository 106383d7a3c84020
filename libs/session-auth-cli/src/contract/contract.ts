import { type FileHandle, open } from 'node:fs/promises';
import { type CommandIo, type ExitCode, UsageError } from '../command-line/command-io.js';
import { readCommandLine } from '../command-line/command-line.js';
import { COMMAND_LINE, type ContractSettings, readSettings } from './contract-options.js';
import { ContractRun } from './contract-run.js';
import { asJson, asJunit, planText, TextReport } from './report.js';
import type { RowResult } from './row.js';
import { CONTRACT_ROWS } from './rows.js';

export async function contract(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const options = readCommandLine(COMMAND_LINE, args);
  if (typeof options === 'string') {
    io.stdout.write(options);
    return 0;
  }
  const settings = readSettings(options, io);
  const junit = settings.junit === undefined ? undefined : await openReport(settings.junit);
  try {
    const results = await runAll(settings, io);
    await junit?.writeFile(asJunit(results));
    return io.interrupted.aborted || results.some(({ outcome }) => outcome === 'fail') ? 1 : 0;
  } finally {
    await junit?.close();
  }
}

/** Before the first call: a report that can't be written is a fault of the command line. */
async function openReport(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'w');
  } catch (error) {
    throw new UsageError(
      `The file of --junit can't be written (${(error as NodeJS.ErrnoException).code ?? 'no code'}).`,
    );
  }
}

async function runAll(settings: ContractSettings, io: CommandIo): Promise<RowResult[]> {
  const run = new ContractRun(settings);
  const report = settings.json ? undefined : new TextReport(io);
  const results: RowResult[] = [];
  const add = (result: RowResult): void => {
    results.push(result);
    report?.add(result);
  };
  (settings.json ? io.stderr : io.stdout).write(planText(CONTRACT_ROWS, run, settings));
  for (const row of CONTRACT_ROWS) add(await run.run(row));
  add(run.finish());
  if (report) report.finish(results);
  else io.stdout.write(asJson(results));
  return results;
}
