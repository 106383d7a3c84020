import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Report } from '../../libs/session-auth-cli/src/doctor/report.js';
import { runCommand } from '../../libs/session-auth-cli/src/run-command.js';
import { captureIo } from './captured-io.js';
import { API_KEY, OddService, USER, type OddReply } from './odd-service.js';

const ENV = { SESSION_SERVICE_API_KEY: API_KEY, SESSION_SERVICE_PASSWORD: USER.password };
const USER_DETAILS = '/authentication/user_details';
const redirectTo = (location: string): OddReply => ({ status: 308, headers: { location } });

describe('a redirect of user_details', () => {
  let other: OddService;
  const started: OddService[] = [];
  const serve = async (...args: Parameters<typeof OddService.start>): Promise<OddService> => {
    const service = await OddService.start(...args);
    started.push(service);
    return service;
  };
  const examine = async (url: string): Promise<Report & { code: number }> => {
    const io = captureIo(ENV);
    const code = await runCommand(['doctor', '--json', '--url', url, '--user', USER.username], io);
    return { ...(JSON.parse(io.out()) as Report), code };
  };
  beforeEach(async () => {
    other = await serve();
  });
  afterEach(async () => {
    for (const service of started.splice(0)) await service.close();
  });

  it.each<[what: string, rootOf: (port: number) => string]>([
    ['another port', (port) => `http://127.0.0.1:${port}/api`],
    ['another host', (port) => `http://localhost:${port}/api`],
  ])(
    'to %s carries neither key nor password there, and no other baseUrl is printed [P46]',
    async (_what, rootOf) => {
      const root = rootOf(other.port);
      const service = await serve({ answer: () => redirectTo(`${root}${USER_DETAILS}`) });
      const { checks, code, options } = await examine(service.url);
      expect({ calls: other.calls, options, code }).toEqual({
        calls: 0,
        options: {},
        code: 1,
      });
      expect(checks.find(({ id }) => id === 'redirects')).toEqual({
        id: 'redirects',
        outcome: 'fail',
        text: `user_details redirects to ${root}, and the library follows no redirect. Neither key nor password was sent there. If it is your session service, run again with that --url.`,
      });
    },
  );

  it('to another path of its origin is not followed either, and no other baseUrl is printed [P46]', async () => {
    const service = await serve({
      answer: (usual, { path }) =>
        path.startsWith('/old/') ? redirectTo(path.replace('/old/', '/api/')) : usual,
    });
    const given = service.url.replace('/api', '/old');
    const { checks, code, options } = await examine(given);
    expect({ options, code, signIns: service.signIns }).toEqual({
      options: {},
      code: 1,
      signIns: [],
    });
    expect(checks.find(({ id }) => id === 'redirects')?.text).toContain(
      `redirects to ${service.url}, and the library follows no redirect.`,
    );
  });
});
