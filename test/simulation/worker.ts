import { createHash } from 'crypto';
import { playHistory } from './history.js';
import { installVirtualGlobals } from './virtual-globals.js';

/** The histories that a worker plays. */
interface Assignment {
  readonly firstSeed: number;
  readonly histories: number;
  /** Stop after the first history with a violation. */
  readonly stopsAtViolation: boolean;
  /** Play one history and report its trace. */
  readonly traces: boolean;
}

/** Report of a worker: sums since its previous report, and a history with a violation. */
interface WorkerReport {
  readonly histories: number;
  readonly checks: number;
  readonly accepted: number;
  readonly calls: number;
  readonly steps: number;
  readonly violation?:
    | { readonly seed: number; readonly kind: string; readonly violations: readonly string[] }
    | undefined;
  readonly trace?: { readonly lines: readonly string[]; readonly hash: string } | undefined;
}

const HISTORIES_PER_REPORT = 500;

let unhandled: string[] = [];
process.on('unhandledRejection', (reason) =>
  unhandled.push(
    `unhandled rejection: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`,
  ),
);

const { setImmediate } = globalThis;
installVirtualGlobals();
process.once('message', (assignment: Assignment) => {
  void work(assignment).then(
    () => process.disconnect(),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function work({ firstSeed, histories, stopsAtViolation, traces }: Assignment): Promise<void> {
  // The simulated network creates many errors, whose stacks are not used.
  Error.stackTraceLimit = traces ? 20 : 0;
  let sums = { histories: 0, checks: 0, accepted: 0, calls: 0, steps: 0 };
  for (let index = 0; index < histories; index += 1) {
    const seed = firstSeed + index;
    const result = await playHistory(seed, traces);
    // Lets Node.js report unhandled rejections, and send pending messages.
    await new Promise((resolve) => void setImmediate(resolve));
    const violations = [...result.violations, ...unhandled];
    unhandled = [];
    const { checks, accepted, calls, steps } = result;
    sums = {
      histories: sums.histories + 1,
      checks: sums.checks + checks,
      accepted: sums.accepted + accepted,
      calls: sums.calls + calls,
      steps: sums.steps + steps,
    };
    const violation = violations.length > 0 ? { seed, kind: result.kind, violations } : undefined;
    const isLast = index === histories - 1 || (violation !== undefined && stopsAtViolation);
    if (!isLast && !violation && !traces && sums.histories < HISTORIES_PER_REPORT) continue;
    const trace = traces
      ? { lines: result.lines, hash: createHash('sha256').update(result.lines.join('\n')).digest('hex') }
      : undefined;
    await report({ ...sums, violation, trace });
    sums = { histories: 0, checks: 0, accepted: 0, calls: 0, steps: 0 };
    if (isLast) return;
  }
}

function report(sums: WorkerReport): Promise<void> {
  return new Promise((resolve) => process.send?.(sums, () => resolve()));
}
