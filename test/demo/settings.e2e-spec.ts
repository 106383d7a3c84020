import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { explainStartFailure } from '../../apps/demo/src/settings/explain-start-failure.js';
import { readListenSettings } from '../../apps/demo/src/settings/listen-settings.js';
import { startDemo } from '../../apps/demo/src/start-demo.js';

/** What whoever starts the demo with this environment reads. */
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
  it.each(['eighty', '-1', '65536', '3000.5', ' '])('refuse PORT "%s"', async (port) => {
    await expect(refusalOf({ PORT: port })).resolves.toMatch(/^PORT must be a whole number from 0 to 65535/);
  });

  it.each([{}, { PORT: '', HOST: '' }])('are port 3000 of the loopback address with %j', (env) => {
    expect(readListenSettings(env)).toEqual({ port: 3000, host: '127.0.0.1' });
  });

  it('ask for the key when only the URL of the session service is set', async () => {
    await expect(refusalOf({ SESSION_SERVICE_URL: 'http://127.0.0.1:9' })).resolves.toContain('set SESSION_SERVICE_API_KEY');
  });

  it('ask for the URL when only the key is set, without telling the key', async () => {
    const refusal = await refusalOf({ SESSION_SERVICE_API_KEY: 'a-secret-key' });
    expect(refusal).toContain('set SESSION_SERVICE_URL');
    expect(refusal).not.toContain('a-secret-key');
  });

  it('refuse a URL of the session service that is none', async () => {
    const refusal = await refusalOf({ SESSION_SERVICE_URL: 'sessions', SESSION_SERVICE_API_KEY: 'a-secret-key' });
    expect(refusal).toContain('SESSION_SERVICE_URL');
    expect(refusal).not.toContain('a-secret-key');
  });

  it('keep the embedded session service out of production, and say what to set instead', async () => {
    const refusal = await refusalOf({ NODE_ENV: 'production' });
    expect(refusal).toMatch(/NODE_ENV=production.*Set SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY/);
  });

  it.each([
    ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
  ])('name with HOST %s an address that leads there', async (HOST, url) => {
    const demo = await startDemo({ env: { PORT: '0', HOST } });
    try {
      expect(demo.url).toMatch(url);
      expect((await fetch(`${demo.url}/api/health`)).status).toBe(200);
    } finally {
      await demo.close();
    }
  });

  it('say that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      await expect(refusalOf({ PORT: String(port) })).resolves.toBe(
        `127.0.0.1:${port} is in use: stop what listens there, or set PORT to another one.`,
      );
    } finally {
      other.close();
    }
  });
});
