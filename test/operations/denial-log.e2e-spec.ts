import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, type Type } from '@nestjs/common';
import { Roles } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { type GuideCode, importFromGuide } from '../support/guide-code.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

@Controller('openings')
class OpeningsController {
  @Get(':id')
  @Roles('approver')
  read(): string {
    return 'in';
  }
}

describe.each(platforms('Fastify'))('denials on %s', (_name, platform) => {
  const bed = testbed(platform);
  let guide: GuideCode<{ DenialLog: Type }>;
  beforeAll(async () => {
    guide = await importFromGuide('audit-trail.md', 'src/denial-log.ts');
  });
  afterAll(() => guide.remove());

  it('are in the log of the guide: who was denied what, by which rule', async () => {
    const log = new CapturedLog();
    const service = await bed.service();
    const app = await bed.sample(
      { baseUrl: service.url, controllers: [OpeningsController], providers: [guide.module.DenialLog] },
      { logger: log },
    );
    await app.get('/openings/7?secret', service.signInAs({ username: 'ann', role: 'new_hire' }));
    await app.get('/openings/7', service.signInAs({ username: 'bob', role: 'approver' }));

    const lines = log.lines.filter((line) => line.endsWith(' Denials'));
    expect(lines).toHaveLength(1);
    for (const part of [
      "code: 'ACCESS_DENIED'",
      "rule: '@Roles(approver)'",
      "path: '/openings/7'",
      "user: 'ann'",
    ])
      expect(lines[0]).toContain(part);
    expect(lines[0]).not.toContain('secret');
  });
});
