import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inLongForm } from '../support/long-form.js';
import { compileProgram, type CompiledProgram } from '../support/program.js';
import { freePort } from '../support/server-process.js';
import { drop, inTurn, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import type { ScriptSettings } from './script.process.js';

/** A `timeoutMs` that a process does not reach: one that lasts half as long is held by something. */
const PATIENT_MS = 300_000;

const CALLS = ['verify', 'userDetails', 'signIn', 'signOut', 'forget', 'forgetUser', 'forgetAll'];
const OUTCOMES = CALLS.map((call) =>
  call.startsWith('forget') ? `${call}: done` : `${call}: SessionServiceUnavailableError`,
);

describe('a script', () => {
  const bed = testbed();
  let script: CompiledProgram;
  beforeAll(async () => {
    script = await compileProgram(join(import.meta.dirname, 'script.process.ts'));
  });
  afterAll(() => script.remove());

  /** Runs the script in a process of its own, until that ends by itself. */
  function run(more: Partial<ScriptSettings>): Promise<{ exitCode: number; lines: string[] }> {
    const base = { baseUrl: 'http://127.0.0.1:1', timeoutMs: 400, calls: CALLS };
    const settings: ScriptSettings = { ...base, keySettles: true, hasStore: false, closes: false, ...more };
    const [given, limit] = [[script.file, JSON.stringify(settings)], { timeout: PATIENT_MS / 2 }];
    return new Promise((resolve) => {
      execFile(process.execPath, given, limit, (error, stdout, stderr) => {
        const lines = `${stdout}${stderr}`.trim().split('\n');
        resolve({ exitCode: error ? Number(error.code ?? -1) : 0, lines });
      });
    });
  }

  it('gets the outcome of every call that it awaits, whatever is out of order, and ends by itself [P62]', async () => {
    const baseUrlOf = async (answer: Script) => (await bed.serviceThat(answer)).url;
    const silent = await baseUrlOf(silence);
    const quick: Readonly<Record<string, Partial<ScriptSettings>>> = {
      'no name': { baseUrl: 'http://sessions.invalid' },
      '500': { baseUrl: await baseUrlOf(reply(500)) },
      reset: { baseUrl: await baseUrlOf(drop) },
    };
    const outages: Readonly<Record<string, Partial<ScriptSettings>>> = {
      ...(inLongForm('three outages that end at once') && quick),
      refused: { baseUrl: `http://127.0.0.1:${await freePort()}` },
      silent: { baseUrl: silent },
      'no key': { keySettles: false, baseUrl: silent },
      'no store': { hasStore: true, baseUrl: silent },
    };
    const runs = Object.entries(outages).map(
      async ([outage, settings]) => [outage, await run({ ...settings, closes: true })] as const,
    );
    const expected = { exitCode: 0, lines: [...OUTCOMES, 'end'] };
    expect(Object.fromEntries(await Promise.all(runs))).toEqual(
      Object.fromEntries(Object.keys(outages).map((outage) => [outage, expected])),
    );
  });

  it('ends at once when its calls have settled, also with a call in the background [P62]', async () => {
    const service = await bed.service();
    service.on('user_details', inTurn(json({ username: 'ann' }), silence));
    service.on('sign_out', reply(204));
    const calls = ['verify', 'signOut', 'forgetUser', 'verify'];
    const lines = [...calls.map((call) => `${call}: done`), 'end'];
    expect(await run({ baseUrl: service.url, calls, timeoutMs: PATIENT_MS })).toEqual({ exitCode: 0, lines });
    expect(service.callsTo('user_details')).toBe(2);
  });
});
