import { describe, expect } from '@jest/globals';
import { platforms } from '../support/platforms.js';
import { drop, json, reply, silence, type Script } from '../support/scripted-service.js';
import { IV, KEY, PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import type { Ask, Trial } from '../support/trial/trial.js';

/** Echoes every request. */
const echo =
  (status: number): Script =>
  (request, ...rest) =>
    reply(status, JSON.stringify(request))(request, ...rest);

const ANSWERS: readonly Script[] = [
  ...[200, 202, 204, 302, 400, 401, 403, 404, 418, 429, 500, 503].map(echo),
  reply(500, `${KEY} ${TOKEN} ${IV} ${PASSWORD}`, { 'x-api-key': KEY, 'x-auth-token': TOKEN }),
  reply(302, '', { location: `http://127.0.0.1:9/?${encodeURIComponent(TOKEN)}` }),
  json({ username: 'ann', auth_token: `${TOKEN}-other` }),
  json({ username: TOKEN, role: [KEY] }),
  reply(200, `{"auth_token":"${TOKEN}`),
  drop,
  silence,
];
const LOGIN: Ask = {
  method: 'POST',
  path: '/login',
  token: null,
  body: JSON.stringify({ username: 'ann', password: PASSWORD }),
};
const REQUESTS: readonly Ask[] = [
  { path: '/hm' },
  LOGIN,
  { method: 'DELETE', path: '/logout' },
  { token: `${TOKEN} ` },
  { iv: `${IV} ${IV}` },
];
const options = {
  timeoutMs: 1_000,
  signInTimeoutMs: 1_000,
  signOutTimeoutMs: 1_000,
  breaker: false,
} as const;

/** The calls of the service class, with the secrets that must not leak. */
function calls({ sessions }: Trial): readonly Promise<unknown>[] {
  const credentials = { username: 'ann', password: PASSWORD };
  return [
    sessions.signIn(credentials, { authIv: IV }),
    sessions.signIn(credentials, { authIv: `${IV} ` }),
    sessions.signIn({ ...credentials, username: 7 } as never),
    sessions.signOut(TOKEN, { authIv: IV }),
    sessions.signOut(`${TOKEN} `, { authIv: IV }),
    sessions.userDetails(TOKEN, { authIv: IV }),
    sessions.verify(TOKEN, { authIv: IV }),
  ];
}

describe.each(platforms('Fastify'))('secrets on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'no reply and no log line, at the most verbose level, contains the key, a token, an IV or a password, for any answer of the service [L01]',
    async (trial) => {
      for (const script of ANSWERS) {
        for (const operation of ['user_details', 'sign_in', 'sign_out'] as const)
          trial.service.on(operation, script);
        // An application logs a cause once: each answer is the first of its own.
        const { url: at } = await trial.keepApp(options);
        for (const request of REQUESTS) await trial.ask({ ...request, at });
      }
      expect(trial.answers.length).toBe(ANSWERS.length * REQUESTS.length);
    },
    { options },
  );

  row(
    'no error of the service class contains one either, nor a cause: not in its message, stack, JSON, fields or deepest inspection [L02]',
    async (trial) => {
      const names = new Set<string>();
      for (const script of ANSWERS) {
        for (const operation of ['user_details', 'sign_in', 'sign_out'] as const)
          trial.service.on(operation, script);
        for (const error of await Promise.all(calls(trial).map((call) => trial.thrownBy(call)))) {
          if (error !== undefined) names.add((error as Error).name);
          expect((error as Error | undefined)?.cause).toBeUndefined();
        }
      }
      expect([...names].sort()).toEqual([
        'AccessDeniedError',
        'CredentialsRejectedError',
        'InvalidRequestError',
        'SessionRejectedError',
        'SessionServiceUnavailableError',
        'TooManyAttemptsError',
      ]);
    },
    { options },
  );
});
