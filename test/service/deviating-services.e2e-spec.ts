import { describe, expect, it } from '@jest/globals';
import { Expose } from 'class-transformer';
import { SessionAuthService, UserRecord, type SessionAuthOptions } from 'nestjs-session-auth';
import { startSessionService } from 'nestjs-session-auth/testing';
import { z } from 'zod';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

/** How a session service answers, and the options by which the library understands it. */
interface DeviatingService {
  readonly basePath?: string;
  readonly signedIn?: Script;
  readonly details?: Script;
  readonly wrongPassword?: Script;
  readonly unknownToken?: Script;
  readonly signedOut?: Script;
  readonly options: Partial<SessionAuthOptions>;
}

const TOKEN = 'the-token';
const ANN = { username: 'ann', role: 'admin', auth_token: TOKEN };
const created = (body: object): Script =>
  reply(201, JSON.stringify(body), { 'content-type': 'application/json' });

const user = z.object({
  username: z.string(),
  role: z.string().optional(),
  auth_token: z.string().optional(),
});
const inSession = z
  .object({ session: z.object({ token: z.string() }), login: z.string() })
  .transform(({ session, login }) => ({ username: login, role: 'admin', auth_token: session.token }));

class RenamedRecord extends UserRecord {
  @Expose({ name: 'login' }) override readonly username?: string | undefined = undefined;
}
Expose({ name: 'token' })(RenamedRecord.prototype, 'auth_token');
const renamed = json({ login: 'ann', role: 'admin', token: TOKEN });

const SERVICES: Readonly<Record<string, DeviatingService>> = {
  'answers a sign-in with 201, and in another shape than a check': {
    signedIn: created({ session: { token: TOKEN }, login: 'ann' }),
    options: { userRecord: z.union([inSession, user]) },
  },
  'names its fields and the token otherwise': {
    signedIn: renamed,
    details: renamed,
    options: { userRecord: RenamedRecord },
  },
  'renews the token in its records, and answers a sign-out with 204': {
    details: json({ ...ANN, auth_token: 'another' }),
    signedOut: reply(204),
    options: { tokenEcho: 'ignore' },
  },
  'refuses a wrong password with 422, and ended sessions with a page and 404, below a path': {
    basePath: '/api/v2',
    unknownToken: reply(404, 'no such session'),
    wrongPassword: reply(422, '{"message":"These credentials do not match our records."}'),
    options: { statusMap: { 404: 'unauthenticated', signIn: { 422: 'rejected' } } },
  },
};

async function start({
  basePath = '',
  signedIn = json(ANN),
  details = json(ANN),
  ...answers
}: DeviatingService) {
  const service = await startSessionService({ basePath });
  const { unknownToken = reply(401), wrongPassword = reply(401), signedOut = reply(200) } = answers;
  let isOpen = false;
  service.on('sign_in', (request, ...call) => {
    const { password } = JSON.parse(request.body) as { password: string };
    isOpen = password === 'right';
    (isOpen ? signedIn : wrongPassword)(request, ...call);
  });
  service.on('user_details', (request, ...call) => {
    const isKnown = isOpen && request.headers['x-auth-token'] === TOKEN;
    (isKnown ? details : unknownToken)(request, ...call);
  });
  service.on('sign_out', (...call) => {
    isOpen = false;
    signedOut(...call);
  });
  return service;
}

describe.each(platforms('Express'))('a session service on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(Object.entries(SERVICES))(
    'that %s serves sign-ins, checks and sign-outs by a mapping [P48]',
    async (_what, deviating) => {
      const service = await start(deviating);
      const log = new CapturedLog();
      const { options } = deviating;
      const app = await bed.sample({ baseUrl: service.url, options }, { logger: log });
      const sessions = app.app.get(SessionAuthService);

      await expect(sessions.signIn({ username: 'ann', password: 'wrong' })).rejects.toMatchObject({
        code: 'CREDENTIALS_REJECTED',
      });
      expect(await sessions.signIn({ username: 'ann', password: 'right' })).toMatchObject({
        kind: 'signed-in',
        token: TOKEN,
        user: { role: 'admin' },
      });
      const me = await app.get('/me', TOKEN);
      expect([me.status, await me.text()]).toEqual([200, expect.stringContaining('ann')]);
      expect((await app.get('/me', 'unknown')).status).toBe(401);
      await sessions.signOut(TOKEN);
      expect((await app.get('/me', TOKEN)).status).toBe(401);
      const complaints = /^warn (?:invalid user record|unusable reply|unexpected reply)/;
      expect(log.lines.filter((line) => complaints.test(line))).toEqual([]);
      await service.close();
    },
  );
});
