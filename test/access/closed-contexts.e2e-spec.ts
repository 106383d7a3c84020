import { describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { Public } from 'nestjs-session-auth';
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

  @Public()
  deliverOpenly(letter: string): void {
    this.delivered.push(letter);
  }
}

/**
 * Returns a handler as such a framework gets it from Nest: with the guards of the application, in a context
 * of its kind.
 */
function handlerOf(
  app: INestApplication,
  name: 'deliver' | 'deliverOpenly',
  kind: string,
): (letter: string) => Promise<unknown> {
  const handlers = app.get(PigeonHandlers);
  const creator = app.get(ExternalContextCreator, { strict: false });
  const unused = [undefined, undefined, undefined, undefined, undefined] as const;
  return creator.create(handlers, Reflect.get(handlers, name) as () => void, name, ...unused, kind);
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

  it('is denied but for public handlers, without a call, with one warning for each kind that names it and the remedy', async () => {
    const { app, service, warnings } = await start();
    const deliver = handlerOf(app, 'deliver', 'pigeon');

    const deny = { status: 403, code: 'ACCESS_DENIED' };
    for (const letter of ['first', 'second']) await expect(deliver(letter)).rejects.toMatchObject(deny);
    expect(app.get(PigeonHandlers).delivered).toEqual([]);
    expect(service.callsTo('user_details')).toBe(0);
    expect(warnings()).toEqual([
      expect.stringMatching(/calls of the kind 'pigeon' are denied.* a guard of your own.*@Public\(\)/),
    ]);
    await expect(handlerOf(app, 'deliver', 'telegraph')('letter')).rejects.toThrow();
    expect(warnings()).toHaveLength(2);
    await handlerOf(app, 'deliverOpenly', 'pigeon')('letter');
    expect(app.get(PigeonHandlers).delivered).toEqual(['letter']);
  });

  it.each(['graphql', 'rpc', 'ws'])(
    'is denied for %s too if no handler of the application has it, and the warning names the plugin',
    async (kind) => {
      const { app, warnings } = await start();

      await expect(handlerOf(app, 'deliver', kind)('letter')).rejects.toMatchObject({
        status: 403,
        code: 'ACCESS_DENIED',
      });
      expect(app.get(PigeonHandlers).delivered).toEqual([]);
      expect(warnings()).toEqual([
        expect.stringContaining(`Add SessionAuthModule.contextKind('${kind}') to plugins`),
      ]);
    },
  );
});
