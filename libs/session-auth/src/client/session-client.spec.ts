import { describe, expect, it } from '@jest/globals';
import { Deadline } from './deadline.js';
import type { NoReply, NoReplyReason, Reply } from './http/reply.js';
import { SessionClient } from './session-client.js';
import type { SessionRequests } from './session-requests.js';
import type { ReadUser, UserDetailsVerdicts } from './user-details-verdict.js';

const deadline = new Deadline(60_000);
deadline.clear();

function clientWith(answer: Reply | NoReply, read: ReadUser<object> = (json) => json): SessionClient<object> {
  const call = () => Promise.resolve(answer);
  const wire = { postAuthentication: call, deleteAuthentication: call } as unknown as SessionRequests;
  return new SessionClient(wire, {} as UserDetailsVerdicts<object>, read, 5);
}

describe('a sign-in or sign-out without a reply', () => {
  it.each<[NoReplyReason, boolean]>([
    ['timeout', true],
    ['unreachable', false],
    ['api_key', false],
    ['shutting_down', false],
  ])('(%s) says that its effect is unknown: %p', async (reason, unknown) => {
    const client = clientWith({ noReply: reason });
    const message: unknown = unknown ? expect.stringContaining('unknown') : expect.not.stringContaining('unknown');
    const outage = { code: 'SESSION_SERVICE_UNAVAILABLE', reason, message };
    await expect(client.signIn({ username: 'ann', password: 'secret' }, undefined, deadline)).rejects.toMatchObject(outage);
    await expect(client.signOut({ token: 'token', authIv: undefined }, deadline)).rejects.toMatchObject(outage);
  });
});

describe('a sign-in', () => {
  const signIn = (body: string, read?: ReadUser<object>): Promise<unknown> =>
    clientWith({ status: 200, headers: {}, body: Buffer.from(body) }, read).signIn({ username: 'ann', password: 'x' }, undefined, deadline);

  it('returns the user and the token', async () => {
    const user = { username: 'ann', auth_token: 'token' };
    expect(await signIn(JSON.stringify(user))).toEqual({ kind: 'signed-in', user, token: 'token' });
  });

  const asItIs: ReadUser<object> = (json) => json;

  it.each<[string, string, ReadUser<object>]>([
    ['without a token', '{"username":"ann"}', asItIs],
    ['with a token that is too long', '{"username":"ann","auth_token":"123456"}', asItIs],
    ['without a JSON object', '[]', asItIs],
    ['that the validator of the application rejects', '{"auth_token":"token"}', () => undefined],
    [
      'on which the validator of the application throws',
      '{"auth_token":"token"}',
      () => {
        throw new Error('of the application');
      },
    ],
  ])('%s fails as malformed', async (_name, body, read) => {
    await expect(signIn(body, read)).rejects.toMatchObject({ code: 'SESSION_SERVICE_UNAVAILABLE', reason: 'malformed' });
  });
});
