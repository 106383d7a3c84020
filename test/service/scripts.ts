import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { compileProgram, type CompiledProgram } from '../support/program.js';

export interface ScriptSettings {
  readonly baseUrl: string;
  /** Of every call. */
  readonly timeoutMs: number;
  /** Methods of the service class, which the script awaits one after the other. */
  readonly calls: readonly string[];
  /** Whether the function `apiKey` ever settles. */
  readonly keySettles: boolean;
  /** Whether a store is set, which never answers. */
  readonly hasStore: boolean;
  /** Whether the script closes the application at its end. */
  readonly closes: boolean;
}

export interface ScriptRun {
  readonly exitCode: number;
  readonly lines: readonly string[];
}

/** A process that lasts longer is held by something. Less than {@link PATIENT_MS}. */
const TOO_LONG_MS = 150_000;
/** A `timeoutMs` that a process does not reach. */
export const PATIENT_MS = 300_000;

/** Compiles the script once, for any number of processes. */
export function compileScript(): Promise<CompiledProgram> {
  return compileProgram(join(import.meta.dirname, 'script.process.ts'));
}

/** Runs the script in a process of its own, until that ends by itself. */
export function runScript({ file }: CompiledProgram, settings: ScriptSettings): Promise<ScriptRun> {
  return new Promise((resolve) => {
    const given = [file, JSON.stringify(settings)];
    execFile(process.execPath, given, { timeout: TOO_LONG_MS }, (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.trim().split('\n');
      resolve({ exitCode: error ? Number(error.code ?? -1) : 0, lines });
    });
  });
}
