import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { startDemo } from '../../apps/demo/src/start-demo.js';
import { DemoClient } from './demo-client.js';

/** A loopback URL where nothing listens. */
async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

describe('the demo without its session service', () => {
  it('starts, says when to try again, and still serves what is public', async () => {
    const demo = await startDemo({ port: 0, env: { SESSION_SERVICE_URL: await closedUrl(), SESSION_SERVICE_API_KEY: 'a-key' } });
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
      expect((await client.get('/console/info')).json()).toEqual({ users: [], controls: false, platform: 'express' });
    } finally {
      await demo.close();
    }
  });
});
