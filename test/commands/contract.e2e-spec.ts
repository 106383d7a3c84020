import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { asJunit } from '../../libs/session-auth-cli/src/contract/report.js';
import type { RowResult } from '../../libs/session-auth-cli/src/contract/row.js';
import { CONTRACT_ROWS } from '../../libs/session-auth-cli/src/contract/rows.js';
import { runCommand } from '../../libs/session-auth-cli/src/run-command.js';
import { freePort } from '../support/server-process.js';
import { captureIo, type CapturedIo } from './captured-io.js';
import { startCommand, written } from './command-run.js';
import { FAULTS, type FaultRow } from './contract-faults.js';
import { ANN, API_KEY, BOB, ContractService, EVE, type Fault } from './contract-service.js';

const ENV = {
  SESSION_SERVICE_API_KEY: API_KEY,
  SESSION_SERVICE_PASSWORD: ANN.password,
  SESSION_SERVICE_SECOND_PASSWORD: BOB.password,
  SESSION_SERVICE_PENDING_PASSWORD: EVE.password,
};
const ANN_AND_BOB = ['--user', 'ann', '--second-user', 'bob'];
const ALL_USERS = [...ANN_AND_BOB, '--pending-user', 'eve'];
const EVERYTHING = [...ALL_USERS, '--try-wrong-password'];
const SECRETS = [API_KEY, ANN.password, BOB.password, EVE.password];

interface Report {
  readonly rows: readonly {
    readonly id: string;
    readonly outcome: string;
    readonly text?: string;
    readonly seconds: number;
  }[];
  readonly totals: { readonly ok: number; readonly fail: number; readonly skipped: number };
}

interface Ended {
  readonly code: number;
  readonly report: Report;
  readonly fails: readonly string[];
  readonly io: CapturedIo;
}

async function check(
  service: Pick<ContractService, 'url'>,
  args: readonly string[],
  io = captureIo(ENV),
): Promise<Ended> {
  const code = await runCommand(['contract', '--json', '--url', service.url, ...args], io);
  const report = JSON.parse(io.out()) as Report;
  return { code, report, io, fails: idsOf(report, 'fail') };
}

function idsOf({ rows }: Report, outcome: string): string[] {
  return rows.filter((row) => row.outcome === outcome).map(({ id }) => id);
}

function textsOf({ rows }: Report, outcome: string): string[] {
  return [
    ...new Set(rows.flatMap((row) => (row.outcome === outcome && row.text !== undefined ? [row.text] : []))),
  ];
}

const started: ContractService[] = [];
async function serve(fault?: Fault): Promise<ContractService> {
  const service = await ContractService.start(fault);
  started.push(service);
  return service;
}

const folder = mkdtempSync(join(tmpdir(), 'contract-'));
afterEach(() => Promise.all(started.splice(0).map((service) => service.close())));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the rows of the contract', () => {
  it('hold for a strict service that keeps the contract, and leave no session open', async () => {
    const bound = new Set<string | undefined>();
    const service = await serve({
      reply: (usual, { method, headers }) => {
        // As Fastify answers a media type without a body.
        if (method !== 'POST' && headers['content-type'] !== undefined)
          return { status: 400, body: 'no JSON' };
        const { auth_token: issued } = JSON.parse(usual.body ?? '{}') as { auth_token?: string };
        if (headers['x-auth-iv'] !== undefined) bound.add(issued);
        return usual;
      },
      request: (call) =>
        call.method === 'DELETE' &&
        call.headers['x-auth-iv'] === undefined &&
        bound.has(call.headers['x-auth-token'])
          ? { ...call, path: '/nowhere' }
          : call,
    });
    const { code, report } = await check(service, EVERYTHING);
    expect([code, textsOf(report, 'fail')]).toEqual([0, []]);
    expect(report.totals).toEqual({ ok: CONTRACT_ROWS.length + 1, fail: 0, skipped: 0 });
    expect(service.sessions.size).toBe(0);
  });

  it('hold for the service of dev', async () => {
    const users = [ANN, BOB].flatMap(({ username, password }) => ['--user', `${username}:${password}`]);
    const dev = startCommand(['dev', '--port', '0', ...users], { SESSION_SERVICE_API_KEY: API_KEY });
    const [, url = ''] = await written(dev, /(http:\/\/\S+)/);
    const { code, report } = await check({ url }, [...ANN_AND_BOB, '--try-wrong-password']);
    dev.interrupt();
    await dev.exitCode;
    expect([code, report.rows.filter(({ outcome }) => outcome === 'fail')]).toEqual([0, []]);
  });
});

describe('the contract fails for a service that', () => {
  const ended = new Map<string, Ended & { readonly open: number }>();

  beforeAll(async () => {
    const rows = FAULTS.values();
    const work = async (): Promise<void> => {
      for (const row of rows) ended.set(row.name, await run(row));
    };
    await Promise.all([work(), work(), work()]);
  });

  async function run({ fault }: FaultRow): Promise<Ended & { readonly open: number }> {
    const service = await ContractService.start(fault);
    const result = await check(service, EVERYTHING);
    const open = service.sessions.size;
    await service.close();
    return { ...result, open };
  }

  it.each(FAULTS.map((row) => [row.name, row] as const))('%s', (name, { fails }) => {
    const result = ended.get(name);
    expect([...(result?.fails ?? [])].sort()).toEqual([...fails].sort());
    expect(result?.code).toBe(1);
    if (name !== 'keeps sessions at a sign-out') expect(result?.open).toBe(0);
    for (const secret of SECRETS) expect(`${result?.io.out()}${result?.io.err()}`).not.toContain(secret);
  });
});

describe('nestjs-session-auth-cli contract', () => {
  it('tries no wrong password of a user without --try-wrong-password', async () => {
    const service = await serve();
    const { code, report } = await check(service, ALL_USERS);
    expect([code, idsOf(report, 'skipped').every((id) => id.startsWith('wrong-password.'))]).toEqual([
      0,
      true,
    ]);
    expect(textsOf(report, 'skipped')).toEqual([
      'it tries a wrong password of the user, which may lock the account: pass --try-wrong-password',
    ]);
    const real = service.signIns.filter(({ username }) => ['ann', 'bob', 'eve'].includes(username));
    expect(real.filter(({ password }) => !SECRETS.includes(password))).toEqual([]);
    expect(real.length).toBeGreaterThan(20);
  });

  it('signs in once if the password of the user is wrong', async () => {
    const service = await serve();
    const io = captureIo({ ...ENV, SESSION_SERVICE_PASSWORD: 'mistyped' });
    const { code, report, fails } = await check(service, ['--user', 'ann', '--try-wrong-password'], io);
    expect([code, fails]).toEqual([1, ['sign-in.record']]);
    expect(service.signIns.filter(({ username }) => username === 'ann')).toHaveLength(1);
    expect(textsOf(report, 'skipped')).toContain(
      'the first sign-in of its user failed, and is not tried again, since that could lock the account',
    );
  });

  it('stops when the service limits the rate of requests', async () => {
    let calls = 0;
    const service = await serve({ reply: (usual) => ((calls += 1) > 20 ? { status: 429 } : usual) });
    const { code, report, fails } = await check(service, []);
    expect([code, fails.length, service.calls]).toEqual([1, 1, 21]);
    expect(textsOf(report, 'fail')[0]).toMatch(
      /but the reply is 429: the service limits the rate of requests\.$/,
    );
    expect(textsOf(report, 'skipped')).toContain('the service limits the rate of requests (429)');
  });

  it('stops after three rows without a reply', async () => {
    const { code, report, fails } = await check({ url: `http://127.0.0.1:${await freePort()}` }, []);
    expect([code, fails.length]).toEqual([1, 3]);
    expect(textsOf(report, 'fail')).toEqual([
      'The connection is refused: nothing listens on that port. Check the port of --url, and whether the service runs. (ECONNREFUSED)',
    ]);
    expect(textsOf(report, 'skipped')).toContain('3 rows in succession brought no reply');
  });

  it('prints that a sign-in without a reply may have opened a session', async () => {
    const service = await serve({
      reply: (usual, { method }) => (method === 'POST' ? new Promise(() => undefined) : usual),
    });
    const { code, report } = await check(service, ['--user', 'ann', '--timeout', '50']);
    expect(code).toBe(1);
    expect(textsOf(report, 'fail')[0]).toMatch(
      /within --timeout.*\(TIMEOUT\) A session may have been opened; its token is unknown\.$/,
    );
  });

  it('opens no further session after three failed sign-outs, and prints so', async () => {
    const service = await serve({
      reply: (usual, { method }) => (method === 'DELETE' ? { status: 500 } : usual),
      request: (call) => (call.method === 'DELETE' ? { ...call, method: 'PUT' } : call),
    });
    const { code, report, fails } = await check(service, ['--user', 'ann']);
    expect([code, fails.includes('sessions-ended'), service.sessions.size]).toEqual([1, true, 3]);
    expect(textsOf(report, 'skipped')).toContain('sessions of earlier rows could not be signed out');
    expect(textsOf(report, 'fail')).toContain('3 could not be signed out. They end when they expire.');
  });

  it('prints no secret, even if the service echoes its requests', async () => {
    const service = await serve({
      reply: (_usual, { headers, body }) => ({
        status: 418,
        headers: { 'x-echo': JSON.stringify(headers), 'content-type': JSON.stringify(headers) },
        body,
      }),
    });
    const file = join(folder, 'echo.xml');
    const io = captureIo(ENV);
    expect(await runCommand(['contract', '--url', service.url, ...EVERYTHING, '--junit', file], io)).toBe(1);
    for (const secret of SECRETS)
      expect(io.out() + io.err() + readFileSync(file, 'utf8')).not.toContain(secret);
  });
});

describe('an interrupted contract', () => {
  it('signs its session out, runs no further row, and writes its JUnit report', async () => {
    const io = captureIo(ENV);
    const service = await serve({
      reply: (usual, { method }) =>
        method === 'GET' ? (io.interrupt(), new Promise(() => undefined)) : usual,
    });
    const file = join(folder, 'interrupted.xml');
    const { code, report, fails } = await check(service, ['--user', 'ann', '--junit', file], io);
    expect([code, fails, service.sessions.size]).toEqual([1, [], 0]);
    expect(idsOf(report, 'skipped')).toContain('sign-out.ends-session');
    expect(textsOf(report, 'skipped')).toContain('the command was interrupted');
    expect(readFileSync(file, 'utf8').match(/<testcase /g)).toHaveLength(report.rows.length);
  });
});

describe('the JUnit report', () => {
  it('has a test suite for each section, a test case for each row, and the totals, with any text', () => {
    const odd = `<"&> ]]>' \0\ud800\ufffe\t\u{1f600}`;
    const written = '&#60;&#34;&#38;&#62; ]]&#62;&#39; \ufffd\ufffd\ufffd&#9;\u{1f600}';
    const [one, other] = ['one', 'other'].map((section) => ({ id: 'a.b', section, title: 'It is.' }));
    const xml = asJunit([
      { ...one, id: odd, title: odd, outcome: 'fail', text: odd, seconds: 0.0005 },
      { ...other, outcome: 'skipped', text: 'why', seconds: 0 },
      { ...other, outcome: 'ok', seconds: 61.25 },
    ] as RowResult[]);
    expect(xml.split('\n').map((line) => line.trim())).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites name="Contract of the session service" tests="3" failures="1" errors="0" skipped="1" time="61.251">',
      '<testsuite name="one" tests="1" failures="1" errors="0" skipped="0" time="0.001">',
      `<testcase name="${written}" classname="${written}" time="0.001">`,
      `<failure message="${written}" type="Complaint">${written}</failure>`,
      '</testcase>',
      '</testsuite>',
      '<testsuite name="other" tests="2" failures="0" errors="0" skipped="1" time="61.250">',
      '<testcase name="It is." classname="a.b" time="0.000">',
      '<skipped message="why"/>',
      '</testcase>',
      '<testcase name="It is." classname="a.b" time="61.250"/>',
      '</testsuite>',
      '</testsuites>',
      '',
    ]);
  });

  it('that cannot be written is refused before the first call, with exit code 2', async () => {
    const service = await serve();
    const io = captureIo(ENV);
    const args = ['contract', '--url', service.url, '--junit', join(folder, 'absent', 'report.xml')];
    expect([await runCommand(args, io), io.out(), io.err(), service.calls]).toEqual([
      2,
      '',
      "The file of --junit can't be written (ENOENT).\n",
      0,
    ]);
  });
});

describe('the command line of contract', () => {
  it.each([
    [['--second-user', 'carl'], 'Set SESSION_SERVICE_SECOND_PASSWORD to the password of --second-user.'],
    [['--try-wrong-password'], '--try-wrong-password needs --user.'],
  ])('%j is refused with exit code 2: %s', async (args, sentence) => {
    const io = captureIo({ SESSION_SERVICE_API_KEY: 'key' });
    const code = await runCommand(['contract', '--url', 'http://a', ...args], io);
    expect([code, io.out(), io.err()]).toEqual([2, '', `${sentence}\n`]);
  });
});
