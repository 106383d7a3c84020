import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Report } from '../../libs/session-auth-cli/src/doctor/report.js';
import { issueCertificate } from '../support/certificates.js';
import { API_KEY, OddService, USER, type Habits } from './odd-service.js';
import { readCommandLine } from '../../libs/session-auth-cli/src/command-line/command-line.js';
import { runCommand, SUBCOMMANDS } from '../../libs/session-auth-cli/src/run-command.js';
import { captureIo } from './captured-io.js';

const ROOT = join(import.meta.dirname, '../..');
const HOME = join(ROOT, 'libs/session-auth-cli');
const ENV = {
  PATH: process.env.PATH,
  SESSION_SERVICE_API_KEY: API_KEY,
  SESSION_SERVICE_PASSWORD: USER.password,
};

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<readonly [code: unknown, out: string, err: string]>;
}

describe('the command in a separate process', () => {
  let program: string;
  let main: string;
  let folder: string;
  const services: OddService[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doctor-'));
    await mkdir(join(ROOT, 'dist'), { recursive: true });
    program = await mkdtemp(join(ROOT, 'dist/commands-'));
    await promisify(execFile)(process.execPath, [join(HOME, 'build.mjs'), program]);
    main = join(program, 'nestjs-session-auth-cli.js');
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await rm(program, { recursive: true });
    await rm(folder, { recursive: true });
  });

  const serve = async (habits?: Habits): Promise<OddService> => {
    const service = await OddService.start(habits);
    services.push(service);
    return service;
  };
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Running => {
    const child = spawn(process.execPath, [main, ...args], {
      env: { ...ENV, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
      ([[code], ...said]) => [code, ...said] as const,
    );
    return { child, ended };
  };

  it('is an ES module with a shebang, and exits with the code of its subcommand', async () => {
    const { bin } = JSON.parse(await readFile(join(HOME, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };
    expect(bin).toEqual({ 'nestjs-session-auth-cli': './dist/nestjs-session-auth-cli.js' });
    expect(await readFile(main, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(await start(['heal']).ended).toEqual([2, '', expect.stringMatching(/^Unknown subcommand\. /)]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves no session open when it is ended by %s', async (signal) => {
    const service = await serve({
      write: (_usual, call) => {
        if (call.operation === 'user_details' && call.isSession) running.child.kill(signal);
        return call.operation === 'user_details' && call.isSession;
      },
    });
    const running = start(['doctor', '--url', service.url, '--user', 'ann']);
    const [code, out] = await running.ended;
    expect([code, service.sessions.size, service.signIns]).toEqual([1, 0, ['ann']]);
    expect(out).toContain('The examination was interrupted.');
  });

  it('trusts the authorities of NODE_EXTRA_CA_CERTS, and refuses an expired certificate and one of another host', async () => {
    const certificates = [
      issueCertificate(folder, { address: 'IP:127.0.0.1' }),
      issueCertificate(folder, { address: 'DNS:other.example' }),
      issueCertificate(folder, { address: 'IP:127.0.0.1', endsIn: 2021 }),
    ];
    const authorities = join(folder, 'authorities.pem');
    await writeFile(authorities, certificates.map(({ cert }) => cert).join('\n'));
    const trials = certificates.map(async (tls) => {
      const service = await serve({ tls });
      const [code, out] = await start(['doctor', '--url', service.url, '--user', 'ann', '--json'], {
        NODE_EXTRA_CA_CERTS: authorities,
      }).ended;
      const { checks } = JSON.parse(out) as Report;
      return [code, checks[0]?.text];
    });
    expect(await Promise.all(trials)).toEqual([
      [0, 'The service replies, over TLS with a trusted certificate.'],
      [
        1,
        expect.stringMatching(
          /^The certificate is for another host name\..*\(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
        ),
      ],
      [1, expect.stringMatching(/^The certificate has expired\..*\(CERT_HAS_EXPIRED\)$/)],
    ]);
  });
});

describe('the command', () => {
  it('lists its subcommands for --help, and without arguments, which is exit code 2', async () => {
    for (const [args, code] of [
      [['--help'], 0],
      [['-h'], 0],
      [[], 2],
    ] as const) {
      const io = captureIo();
      expect(await runCommand(args, io)).toBe(code);
      for (const { name, summary } of SUBCOMMANDS)
        expect(io.out()).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
    }
  });

  it.each(SUBCOMMANDS.map((subcommand) => [subcommand.name, subcommand] as const))(
    '%s explains itself for --help, and refuses an unknown option',
    async (name, subcommand) => {
      const { options, environment } = await subcommand.load();
      const help = captureIo();
      expect(await runCommand([name, '--help'], help)).toBe(0);
      const listed = [...Object.keys(options).map((option) => `--${option}`), ...Object.keys(environment)];
      for (const start of listed) expect(help.out()).toContain(`\n  ${start} `);
      const parts = `^Usage: \\S+ ${name} .*Options:\n.*\n  -h, --help.*Environment:\n.*Exit code:\n  0 `;
      expect(help.out()).toMatch(new RegExp(parts, 's'));
      const refused = captureIo();
      expect(await runCommand([name, '--passwordd=hunter2'], refused)).toBe(2);
      expect([refused.out(), refused.err()]).toEqual([
        '',
        `Unknown option --passwordd. See: nestjs-session-auth-cli ${name} --help\n`,
      ]);
    },
  );

  it('prints only the name and the code of an internal error', async () => {
    const io = captureIo();
    const error = Object.assign(new TypeError('the key is hunter2'), { code: 'ERR_TRIAL' });
    const write = (): never => {
      throw error;
    };
    expect(await runCommand(['dev', '--help'], { ...io, stdout: { write } })).toBe(1);
    expect(io.err()).toBe(
      'The command failed: TypeError (ERR_TRIAL). This is a fault of nestjs-session-auth-cli.\n',
    );
  });
});

describe('a command line', () => {
  const line = {
    about: 'Tries.',
    options: {
      url: { type: 'string', value: 'URL', about: 'where' },
      json: { type: 'boolean', about: 'how' },
    },
    environment: {},
    exitCodes: ['it was tried', 'it was not'],
  } as const;

  it.each([
    [['--json=hunter2'], 'Option --json is incomplete, or takes no value.'],
    [['hunter2'], 'There is an argument that belongs to no option.'],
    [['-k', 'hunter2'], 'Unknown option -k.'],
  ])('%j is refused without the value: %s', (args, problem) => {
    expect(() => readCommandLine('trial', line, args)).toThrow(
      `${problem} See: nestjs-session-auth-cli trial --help`,
    );
  });
});
