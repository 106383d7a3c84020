import { describe, expect, it } from '@jest/globals';
import { startDemo } from '../../apps/demo/src/start-demo.js';
import { explainStartFailure } from '../../apps/demo/src/settings/explain-start-failure.js';

/** The message of a demo that does not start with this environment. */
async function refusalOf(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const demo = await startDemo({ env: { PORT: '0', ...env } });
    await demo.close();
    return undefined;
  } catch (error) {
    return explainStartFailure(error);
  }
}

describe('the settings of the demo', () => {
  it.each(['eighty', '65536', ' '])('refuse PORT "%s"', async (port) => {
    await expect(refusalOf({ PORT: port })).resolves.toMatch(/^PORT must be a whole number from 0 to 65535/);
  });

  it.each([
    ['the key', { SESSION_SERVICE_URL: 'http://127.0.0.1:9' }, 'set SESSION_SERVICE_API_KEY'],
    ['the URL', { SESSION_SERVICE_API_KEY: 'a-secret-key' }, 'set SESSION_SERVICE_URL'],
    [
      'a valid URL',
      { SESSION_SERVICE_URL: 'sessions', SESSION_SERVICE_API_KEY: 'a-secret-key' },
      'SESSION_SERVICE_URL',
    ],
  ])('ask for %s of the session service, without revealing the key', async (_what, env, advice) => {
    const refusal = await refusalOf(env);
    expect(refusal).toContain(advice);
    expect(refusal).not.toContain('a-secret-key');
  });

  it('refuse the embedded session service in production, and name the variables to set instead', async () => {
    const refusal = await refusalOf({ NODE_ENV: 'production' });
    expect(refusal).toMatch(/NODE_ENV=production.*Set SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY/);
  });
});
