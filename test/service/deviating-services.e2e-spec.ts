import { describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { startSessionService } from 'nestjs-session-auth/testing';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { DEVIATING_SERVICES, type DeviatingService } from './deviating-services.js';

const TOKEN = 'the-token';

async function start({ basePath = '', ...answers }: DeviatingService) {
  const service = await startSessionService({ basePath });
  const { unknownToken = reply(401), wrongPassword = reply(401), signedOut = reply(200) } = answers;
  let isOpen = false;
  const opening: Script = (request, ...call) => {
    const { password } = JSON.parse(request.body) as { password: string };
    isOpen = password === 'right';
    (isOpen ? answers.signedIn(TOKEN) : wrongPassword)(request, ...call);
  };
  service.on('sign_in', opening);
  service.on('user_details', (request, ...call) => {
    const isKnown = isOpen && request.headers['x-auth-token'] === TOKEN;
    (isKnown ? answers.details(TOKEN) : unknownToken)(request, ...call);
  });
  service.on('sign_out', (...call) => {
    isOpen = false;
    signedOut(...call);
  });
  return service;
}

describe.each(platforms('Express'))('a session service on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(Object.entries(DEVIATING_SERVICES))(
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
