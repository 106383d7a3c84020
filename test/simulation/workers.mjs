// Plays histories in worker processes.
import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * Plays consecutive histories from `firstSeed` in `processes` processes. Returns the sums, and the
 * violations, the lowest seed first. With `stopsAtViolation`, each process stops at its first violation.
 */
export async function playHistories(
  program,
  { firstSeed = 1, histories, processes = 1, stopsAtViolation = true, traces = false, progress },
) {
  const share = Math.ceil(histories / processes);
  const sums = { histories: 0, checks: 0, accepted: 0, calls: 0, steps: 0, violations: [], traces: [] };
  const add = (report) => {
    for (const name of ['histories', 'checks', 'accepted', 'calls', 'steps']) sums[name] += report[name];
    if (report.violation) sums.violations.push(report.violation);
    if (report.trace) sums.traces.push(report.trace);
    progress?.(sums);
  };
  const ranges = Array.from({ length: processes }, (_, index) => ({
    firstSeed: firstSeed + index * share,
    histories: Math.min(share, histories - index * share),
  }));
  await Promise.all(
    ranges
      .filter((range) => range.histories > 0)
      .map((range) => playRange(program, { ...range, stopsAtViolation, traces }, add)),
  );
  sums.violations.sort((one, other) => one.seed - other.seed);
  return sums;
}

async function playRange(program, assignment, add) {
  const worker = fork(program, {
    execArgv: ['--max-semi-space-size=32'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  worker.on('message', add);
  worker.send(assignment);
  const [code, signal] = await once(worker, 'exit');
  if (code !== 0) throw new Error(`A worker ended with ${signal ?? `exit code ${code}`}`);
}
