import type { Report } from '../../libs/session-auth-cli/src/doctor/report.js';
import { runCommand } from '../../libs/session-auth-cli/src/run-command.js';
import { captureIo } from './captured-io.js';
import { API_KEY, USER } from './odd-service.js';

export const ENV = { SESSION_SERVICE_API_KEY: API_KEY, SESSION_SERVICE_PASSWORD: USER.password };

export interface DoctorRun extends Report {
  readonly code: number;
  /** The outcomes of the checks, by their ids. */
  readonly outcomes: Readonly<Record<string, string>>;
  readonly textOf: (id: string) => string | undefined;
  readonly idsOf: (outcome: string) => string[];
  /** All that it wrote. */
  readonly printed: string;
}

/** Runs the doctor, by default as the user of the service. */
export async function runDoctor(
  url: string,
  args: readonly string[] = ['--user', USER.username],
  io = captureIo(ENV),
): Promise<DoctorRun> {
  const code = await runCommand(['doctor', '--json', '--url', url, ...args], io);
  const report = JSON.parse(io.out()) as Report;
  const { checks } = report;
  return {
    ...report,
    code,
    outcomes: Object.fromEntries(checks.map(({ id, outcome }) => [id, outcome])),
    textOf: (id) => checks.find((check) => check.id === id)?.text,
    idsOf: (outcome) => checks.filter((check) => check.outcome === outcome).map(({ id }) => id),
    printed: io.out() + io.err(),
  };
}
