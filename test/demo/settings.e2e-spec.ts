import { describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { startDemo } from '../../apps/demo/src/start-demo.js';
import { explainStartFailure } from '../../apps/demo/src/settings/explain-start-failure.js';
import { readListenSettings } from '../../apps/demo/src/settings/listen-settings.js';
import { freePort } from '../support/server-process.js';
import { DemoClient } from './demo-client.js';

describe('the demo without its session service', () => {
  it('starts, sends Retry-After, and still serves public routes', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const env = { SESSION_SERVICE_URL: closed, SESSION_SERVICE_API_KEY: 'a-key' };
    const demo = await startDemo({ port: 0, env });
    try {
      const client = new DemoClient(demo.url);
      const signIn = await client.signIn('manager', 'any-password');
      const me = await client.get('/api/me', 'any-token');
      for (const reply of [signIn, me]) {
        expect(reply.status).toBe(503);
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      expect((await client.get('/api/health')).status).toBe(200);
      expect((await client.get('/')).status).toBe(200);
      expect((await client.get('/console/info')).json()).toEqual({
        users: [],
        controls: false,
        platform: 'express',
      });
    } finally {
      await demo.close();
    }
  });
});

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

  it.each([{}, { PORT: '', HOST: '' }])('are port 3000 of the loopback address with %j', (env) => {
    expect(readListenSettings(env)).toEqual({ port: 3000, host: '127.0.0.1' });
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

  it('name with HOST 0.0.0.0 an address that leads there', async () => {
    const demo = await startDemo({ env: { PORT: '0', HOST: '0.0.0.0' } });
    try {
      expect(demo.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect((await fetch(`${demo.url}/api/health`)).status).toBe(200);
    } finally {
      await demo.close();
    }
  });

  it('report that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      await expect(refusalOf({ PORT: String(port) })).resolves.toBe(
        `127.0.0.1:${port} is in use: stop the program that listens there, or set PORT to another port.`,
      );
    } finally {
      other.close();
    }
  });
});
