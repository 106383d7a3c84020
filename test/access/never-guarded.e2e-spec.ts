import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

type GuardPath = (app: INestApplication, path: string, role: string) => void;

describe.each(PLATFORMS)('with protectAllRoutes on %s', (_name, platform) => {
  const bed = testbed(platform);
  /** Paths that no handler answers. */
  const open = ['/docs-json', '/mounted/anything', '/adapter'];
  let guide: GuideCode<{ readonly guardPath: GuardPath }>;
  beforeAll(async () => {
    guide = await importFromGuide<typeof guide.module>('context.md', 'src/guard-path.ts');
  });
  afterAll(() => guide.remove());

  const mount = (nest: INestApplication): void => {
    SwaggerModule.setup(
      'docs',
      nest,
      () => SwaggerModule.createDocument(nest, new DocumentBuilder().build()),
      { ui: false },
    );
    nest.use('/mounted', (_request: unknown, reply: ServerResponse) => reply.end('mounted'));
    nest
      .getHttpAdapter()
      .get('/adapter', (_request: unknown, reply: { send(text: string): void }) => reply.send('adapter'));
  };

  it('the guardPath of the guide guards paths without a handler', async () => {
    const service = await bed.service();
    const options = { protectAllRoutes: true };
    const configure = (nest: INestApplication): void => {
      for (const path of ['/docs-json', '/mounted', '/adapter'])
        guide.module.guardPath(nest, path, 'hiring_manager');
      mount(nest);
    };
    const app = await bed.sample({ baseUrl: service.url, options }, { configure });
    const [manager, newHire] = ['hiring_manager', 'new_hire'].map((role) => service.signInAs({ role }));
    for (const path of open) {
      const replies = await Promise.all(
        [undefined, 'bad', newHire, manager].map((presented) => app.get(path, presented)),
      );
      expect([path, replies.map(({ status }) => status)]).toEqual([path, [401, 401, 403, 200]]);
    }
  });
});
