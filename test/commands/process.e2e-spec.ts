import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Report } from '../../libs/session-auth/src/commands/doctor/report.js';
import { issueCertificate } from '../support/certificates.js';
import { compileProgram, type CompiledProgram } from '../support/program.js';
import { API_KEY, OddService, USER, type Habits } from './odd-service.js';

const LIBRARY = join(import.meta.dirname, '../../libs/session-auth');
const ENV = { PATH: process.env.PATH, SESSION_SERVICE_API_KEY: API_KEY, SESSION_SERVICE_PASSWORD: USER.password };

/** A process of the command, and how it ends. */
interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<readonly [code: unknown, out: string, err: string]>;
}

describe('the command in a process of its own', () => {
  let program: CompiledProgram;
  let main: string;
  let folder: string;
  const services: OddService[] = [];
  beforeAll(async () => {
    program = await compileProgram(join(LIBRARY, 'src/commands/nestjs-session-auth.ts'));
    main = join(program.file, '../node_modules/nestjs-session-auth/commands/nestjs-session-auth.js');
    folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await program.remove();
    await rm(folder, { recursive: true });
  });

  const serve = async (habits?: Habits): Promise<OddService> => {
    const service = await OddService.start(habits);
    services.push(service);
    return service;
  };
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Running => {
    const child = spawn(process.execPath, [main, ...args], { env: { ...ENV, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
      ([[code], ...said]) => [code, ...said] as const,
    );
    return { child, ended };
  };

  it('is an ES module with a shebang, and exits with the code of its subcommand', async () => {
    const { bin } = JSON.parse(await readFile(join(LIBRARY, 'package.json'), 'utf8')) as { bin: Record<string, string> };
    expect(bin).toEqual({ 'nestjs-session-auth': './dist/esm/commands/nestjs-session-auth.js' });
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

  it('leaves no session open when the reader of its output is gone', async () => {
    const service = await serve();
    const child = spawn(process.execPath, [main, 'doctor', '--url', service.url, '--user', 'ann'], {
      env: ENV,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.destroy();
    await once(child, 'exit');
    expect([child.exitCode, service.sessions.size, service.signIns.length]).toEqual([0, 0, 3]);
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
      const [code, out] = await start(['doctor', '--url', service.url, '--user', 'ann', '--json'], { NODE_EXTRA_CA_CERTS: authorities })
        .ended;
      const { checks } = JSON.parse(out) as Report;
      return [code, checks[0]?.text];
    });
    expect(await Promise.all(trials)).toEqual([
      [0, 'The service replies, over TLS with a trusted certificate.'],
      [1, expect.stringMatching(/^The certificate is for another host name\..*\(ERR_TLS_CERT_ALTNAME_INVALID\)$/)],
      [1, expect.stringMatching(/^The certificate has expired\..*\(CERT_HAS_EXPIRED\)$/)],
    ]);
  });

  it('loads neither Nest nor axios', async () => {
    const service = await serve();
    const { ended } = start(['doctor', '--url', service.url], { NODE_DEBUG: 'esm' });
    const [code, , log] = await ended;
    expect([code, /node_modules\/(?:@nestjs|axios|rxjs)\//.exec(log)]).toEqual([0, null]);
    expect(log).toContain('class-validator');
  });
});
