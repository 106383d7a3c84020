import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { SessionAuthModule } from 'nestjs-session-auth';
import { TestSessions } from 'nestjs-session-auth/testing';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';
import { PLATFORMS } from '../support/platforms.js';

interface Guide {
  readonly OpeningsModule: Type;
}

describe.each(PLATFORMS)('the policies of the guide to roles and scopes on %s', (_name, platform) => {
  const sessions = new TestSessions();
  let guide: GuideCode<Guide>;
  let app: INestApplication;
  beforeAll(async () => {
    guide = await importFromGuide<Guide>('roles-and-scopes.md', 'src/openings.module.ts');
    const session = SessionAuthModule.forRoot({ baseUrl: 'http://127.0.0.1:1', apiKey: 'application-key' });
    const builder = Test.createTestingModule({ imports: [session, guide.module.OpeningsModule] });
    app = (await sessions.install(builder).compile()).createNestApplication(await platform());
    await app.listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    await app.close();
    await guide.remove();
  });

  const ask = async (path: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const reply = await fetch(`${await app.getUrl()}${path}`, { headers });
    return reply.status === 200 ? reply.text() : reply.status;
  };

  it('admit the owner alone', async () => {
    const [ann, bob] = ['ann', 'bob'].map((username) => sessions.signInAs({ username }));
    expect([await ask('/openings/1', ann), await ask('/openings/2', ann)]).toEqual([
      'An opening of yours',
      403,
    ]);
    expect([await ask('/openings/1', bob), await ask('/openings/1')]).toEqual([403, 401]);
  });
});
