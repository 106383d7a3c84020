import { describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

/** Handlers of a framework that the library does not know. */
@Injectable()
class PigeonHandlers {
  readonly delivered: string[] = [];

  deliver(letter: string): void {
    this.delivered.push(letter);
  }
}

/** Returns a handler as such a framework gets it from Nest. */
function handlerOf(app: INestApplication, kind: string): (letter: string) => Promise<unknown> {
  const handlers = app.get(PigeonHandlers);
  const creator = app.get(ExternalContextCreator, { strict: false });
  const unused = [undefined, undefined, undefined, undefined, undefined] as const;
  const deliver = Reflect.get(handlers, 'deliver') as () => void;
  return creator.create(handlers, deliver, 'deliver', ...unused, kind);
}

describe.each(platforms('Express'))('a context of a kind that is not open on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start() {
    const service = await bed.service();
    const log = new CapturedLog();
    const options = { protectAllRoutes: true };
    const { app } = await bed.sample(
      { baseUrl: service.url, options, providers: [PigeonHandlers] },
      { logger: log },
    );
    return { app, log, service, warnings: () => log.having('warn', 'closed context') };
  }

  it('is denied without a call, with one warning for each kind that names it and the remedy', async () => {
    const { app, service, warnings } = await start();
    for (const kind of ['pigeon', 'pigeon', 'graphql', 'rpc', 'ws'])
      await expect(handlerOf(app, kind)('letter')).rejects.toMatchObject({
        status: 403,
        code: 'ACCESS_DENIED',
      });
    expect(app.get(PigeonHandlers).delivered).toEqual([]);
    expect(service.callsTo('user_details')).toBe(0);
    expect(warnings()).toEqual([
      expect.stringMatching(/calls of the kind 'pigeon' are denied.* a guard of your own.*@Public\(\)/),
      ...['graphql', 'rpc', 'ws'].map((kind) =>
        expect.stringContaining(`Add SessionAuthModule.contextKind('${kind}') to plugins`),
      ),
    ]);
  });
});
