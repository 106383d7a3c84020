import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { platforms } from '../support/platforms.js';

const ALLOWED = '.app.github.dev, Demo.Example.com';

/** Writes the head of a request as it is, and reads the reply as it comes. */
async function exchange(
  url: string,
  ...head: string[]
): Promise<{ readonly status: number; readonly reply: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write([...head, 'Connection: close', '', ''].join('\r\n'));
  const reply = await text(socket);
  return { status: Number(reply.split(' ')[1]), reply };
}

describe.each(platforms('Express'))('the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: { DEMO_ALLOWED_HOSTS: ALLOWED }, newAdapter });
  });
  afterAll(() => demo.close());

  const statusOf = async (...head: string[]): Promise<number> => (await exchange(demo.url, ...head)).status;
  const under = (host: string): Promise<number> => statusOf('GET /api/health HTTP/1.1', `Host: ${host}`);

  it.each([
    [200, ['LOCALHOST:3000', 'localhost.', 'demo.localhost:3000', '192.168.1.7', '[2001:DB8::7]:3000']],
    [200, ['DEMO.example.COM.:8443', 'name-3000.app.github.dev']],
    [421, ['evil.example:3000', 'localhost.evil.example', 'notlocalhost', '127.0.0.1.nip.io', '2130706433']],
    [421, ['www.demo.example.com', 'app.github.dev', 'evilapp.github.dev']],
    [400, ['', 'user@localhost', 'localhost/', 'localhost, evil.example', 'localhost:port', 'localhost..']],
    [
      400,
      ['.localhost', '::1', '[::1]evil.example', '[localhost]', 'l\u00f6calhost', `${'a'.repeat(5_000)}!`],
    ],
  ])('answers %i to the hosts %j', async (status, hosts) => {
    for (const host of hosts) expect([host, await under(host)]).toEqual([host, status]);
  });

  it('answers 400 to a request without a host, or with several', async () => {
    expect(await statusOf('GET / HTTP/1.1')).toBe(400);
    expect(await statusOf('GET / HTTP/1.0')).toBe(400);
    expect(await statusOf('GET / HTTP/1.1', 'Host: localhost', 'Host: evil.example')).toBe(400);
    expect(await statusOf('GET / HTTP/1.1', 'Host: evil.example', 'hOST: localhost')).toBe(400);
  });

  it('reads the host of an absolute target too, and routes by its path', async () => {
    const absolute = (target: string, host = 'localhost'): Promise<number> =>
      statusOf(`GET ${target} HTTP/1.1`, `Host: ${host}`);
    expect(await absolute('http://localhost:3000/api/health')).toBe(200);
    expect(await absolute('http://localhost?x')).toBe(200);
    expect(await absolute('http://evil.example/api/health')).toBe(421);
    expect(await absolute('http://localhost/api/health', 'evil.example')).toBe(421);
    expect(await absolute('http://localhost@evil.example/api/health')).toBe(400);
    expect(await absolute('//evil.example/api/health')).toBe(404);
  });

  it('answers 421 to every request under the name of another site, though the browser calls it same-origin', async () => {
    const site = 'evil.example:3000';
    const headers = [
      `Host: ${site}`,
      `Origin: http://${site}`,
      'Sec-Fetch-Site: same-origin',
      'Forwarded: host=localhost',
    ];
    for (const line of [
      'GET /',
      'GET /console/live',
      'POST /console/end-sessions',
      'GET /api/me',
      'GET /docs',
      'OPTIONS *',
    ])
      expect([line, await statusOf(`${line} HTTP/1.1`, ...headers)]).toEqual([line, 421]);
  });
});

describe('the hosts of the demo', () => {
  it.each(['*', 'http://demo.example.com', 'demo.example.com:3000', '.'])(
    'are refused at startup as DEMO_ALLOWED_HOSTS "%s", with the remedy',
    async (list) => {
      const env = { DEMO_ALLOWED_HOSTS: `demo.example.com, ${list}` };
      await expect(startDemo({ port: 0, env })).rejects.toThrow(
        'DEMO_ALLOWED_HOSTS must be host names without scheme and port',
      );
    },
  );
});
