import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TestSessions } from 'nestjs-session-auth/testing';
import { always } from '../support/always.js';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';
import { PLATFORMS } from '../support/platforms.js';

interface Guide {
  readonly AppModule: Type;
}

describe.each(PLATFORMS)('the application of the guide to own users on %s', (_name, platform) => {
  const sessions = new TestSessions();
  let guide: GuideCode<Guide>;
  let app: INestApplication;
  beforeAll(async () => {
    guide = await importFromGuide<Guide>('own-users.md', 'src/app.module.ts');
    const builder = Test.createTestingModule({ imports: [guide.module.AppModule] });
    app = (await sessions.install(builder).compile()).createNestApplication(await platform());
    await app.listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    await app.close();
    await guide.remove();
  });

  const ask = async (
    headers: Record<string, string> = {},
    method = 'GET',
    path = '/openings',
  ): Promise<unknown> => {
    const reply = await fetch(`${await app.getUrl()}${path}`, { method, headers });
    return reply.status === 200 && path === '/openings' ? reply.json() : reply.status;
  };
  const signIn = (username: string, role = 'owner', fields: object = {}): Record<string, string> =>
    sessions.signInAs({ username, role, ...fields });

  it('loads the user of the database', async () => {
    expect(await ask(signIn('ann'))).toEqual({ id: 3, role: 'owner' });
    expect(await always(() => ask(signIn('ann', 'new_hire')))).toBe(403);
    expect(await ask(signIn('eve'))).toBe(403);
  });

  it('gets the user that a test gives to a session, or none', async () => {
    const record = { username: 'ann', role: 'owner' };
    expect(await ask(sessions.signInAs(record, { id: 9, username: 'ann' }))).toEqual({
      id: 9,
      role: 'owner',
    });
    expect(await ask(sessions.signInAs(record, undefined))).toBe(403);
  });

  it('refuses a sign-in of a user whom the database does not know, who can sign out', async () => {
    for (const username of ['ann', 'eve']) sessions.addUser({ username, password: 'secret' });
    const call = async (method: string, headers: Record<string, string>, body?: string) =>
      fetch(`${await app.getUrl()}/session`, { method, headers, ...(body && { body }) });
    const signInAs = (username: string) =>
      call('POST', { 'content-type': 'application/json' }, JSON.stringify({ username, password: 'secret' }));
    expect(await (await signInAs('ann')).json()).toEqual({ token: expect.any(String) });
    expect((await signInAs('eve')).status).toBe(403);
    const headers = signIn('eve');
    expect((await call('DELETE', headers)).status).toBe(200);
    expect(await ask(headers)).toBe(401);
  });

  it('admits a robot by its key', async () => {
    expect(await ask({ 'x-robot-key': 'your-robot-key' })).toEqual({ id: 5, role: 'hiring_manager' });
    expect(await always(() => ask({ 'x-robot-key': 'guess', ...signIn('ann') }))).toBe(401);
    expect(await ask()).toBe(401);
  });

  it('reads permissions in the record, and runs its guard after the session guard', async () => {
    expect(await ask(signIn('ann', 'owner', { permissions: ['openings.delete'] }), 'DELETE')).toEqual({
      id: 3,
    });
    expect(await always(() => ask(signIn('ann'), 'DELETE'))).toBe(403);
    expect(await ask(signIn('left'))).toBe(403);
    expect(await ask({}, 'GET', '/openings/about')).toBe(200);
  });
});
